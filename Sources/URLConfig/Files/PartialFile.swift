/// The bytes of an unfinished download, in a file beside its target, which a later run can continue.
///
/// A record remembers which version of which file the bytes belong to, and whose. It names no version before the first
/// byte of another one is written, and its own version before the first byte of that. So there is never a file made of
/// two versions, even if the process ends between two steps. There are no bytes without a record, so that nobody
/// else's file is taken for a part. Only one download at a time can have the part of a target.
///
/// The functions block until the disk has done its work. Call them one after another. When this is released, part and
/// record are kept, unless the download was finished or discarded.
final class PartialFile: Sendable {
    /// What has just been done; tests stop after each step.
    enum Step: CaseIterable, Sendable {
        case versionRemoved
        case truncated
        case recordWritten
        case synchronized
        case linked
        case moved
    }

    private struct State {
        /// `nil` after the download was finished, discarded or closed.
        var file: File?
        /// The number of bytes that have arrived.
        var count: Int64 = 0
        var record: ResumeRecord
        /// Whether the bytes were requested in this run, which may renew its credentials.
        var isOwn = false
        /// What an earlier run has written last after ``count``, if it could not say whether that was all.
        ///
        /// The server's bytes must be the same.
        var unverified = Data()
        /// Whether they are not the same.
        var isChanged = false
    }

    /// The most bytes that are compared with the server's after a run that was killed.
    private static let overlap: Int64 = 1 << 16

    private let target: DownloadTarget
    private let didStep: @Sendable (Step) throws -> Void
    /// The lock is held while the disk works; it is not shared with anything else.
    private let state: Locked<State>

    /// Opens or creates the part of a target.
    ///
    /// - Parameter file: A part that is open already.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has the part;
    ///   `URLError` with code `.cannotOpenFile` or `.cannotCreateFile`, with the `POSIXError`.
    init(
        for target: DownloadTarget, of request: URLRequest, in file: File? = nil,
        didStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) throws {
        var target = target
        let (file, found) = try file.map { ($0, nil) } ?? target.openPart()
        let state = try File.attempt(.cannotOpenFile, "the part of '\(target.name)' cannot be read") {
            var state = State(file: file, record: try ResumeRecord(file, of: request))
            let status = try file.status()
            guard let found, found.isUsable(for: request, status) else { return state }
            state.record = found
            state.count = status.size
            if found.stamp == nil {
                let overlap = min(Self.overlap, max(0, status.size - 1))
                state.count -= overlap
                state.unverified = try file.bytes(at: state.count, count: Int(overlap))
            }
            return state
        }
        self.state = Locked(state)
        self.target = target
        self.didStep = didStep
    }

    /// The number of bytes that have arrived; 0 if they cannot be used.
    var count: Int64 { state.withLock(\.count) }

    /// How the download continues.
    var resumption: Resumption {
        state.withLock { Resumption(count: $0.count, validator: $0.record.validator, total: $0.record.total) }
    }

    /// Whether a response to this requester belongs to the bytes that have arrived.
    func belongs(to requester: Requester) -> Bool {
        state.withLock { $0.isOwn || $0.record.requester == requester.digest(key: $0.record.key) }
    }

    /// Whether another program has changed the part, since the last call of this function.
    func takeChange() -> Bool {
        state.withLock { state in
            defer { state.isChanged = false }
            return state.isChanged
        }
    }

    /// Begins from the start.
    ///
    /// - Parameters:
    ///   - validator: The version of the file. Without it, a later run begins from the start, too.
    ///   - total: The length of the file in bytes, if it is known.
    ///   - requester: Who has requested it.
    /// - Throws: `URLError` with code `.cannotWriteToFile` or `.cannotCreateFile`, with the `POSIXError`.
    func restart(_ validator: StrongValidator?, total: Int64?, for requester: Requester) throws {
        try change { state, file in
            try forget(&state, file)
            try file.truncate(to: 0)
            try didStep(.truncated)
            (state.record.validator, state.record.total) = (state.record.request == nil ? nil : validator, total)
            state.record.requester = requester.digest(key: state.record.key)
            try write(state.record)
            try didStep(.recordWritten)
        }
    }

    /// The bytes cannot be used any more.
    private func forget(_ state: inout State, _ file: File) throws {
        (state.count, state.unverified, state.isOwn) = (0, Data(), true)
        (state.record.validator, state.record.total, state.record.stamp) = (nil, nil, nil)
        if try file.status().size > 0 {
            try write(state.record)
            // After a power failure, new bytes must not be beside the record of old ones.
            target.synchronizeFolder()
        }
        try didStep(.versionRemoved)
    }

    /// Continues with the rest of the file.
    ///
    /// - Parameters:
    ///   - offset: Where the rest begins, which is the start of the ``resumption``.
    ///   - total: The length of the file in bytes.
    ///   - requester: Who has requested it.
    /// - Throws: As ``restart(_:total:for:)``.
    func resume(at offset: Int64, total: Int64, for requester: Requester) throws {
        try change { state, file in
            var record = state.record
            guard offset <= state.count, record.validator != nil else { throw unusable }
            (record.total, record.stamp) = (total, nil)
            record.requester = requester.digest(key: record.key)
            if record != state.record {
                try write(record)
                state.record = record
                try didStep(.recordWritten)
            }
            try file.truncate(to: offset)
            (state.count, state.isOwn) = (offset, true)
        }
    }

    private func write(_ record: ResumeRecord) throws {
        try File.attempt(.cannotCreateFile, "the description of '\(target.name)' cannot be written") {
            try record.write(for: target)
        }
    }

    /// Writes the next bytes of the body.
    ///
    /// - Throws: `URLError` with code `.cannotWriteToFile`, and the `POSIXError` such as `ENOSPC`; the bytes before it
    ///   are kept. `URLError` with code `.cannotParseResponse` if the body is too long; then everything is discarded.
    ///   `URLError` with code `.cannotWriteToFile` if another program has changed the part, see ``takeChange()``.
    func append(_ data: Data) throws {
        try change { state, file in
            guard Int64(data.count) <= (state.record.total ?? .max) - state.count else {
                discard(&state)
                throw URLError(.cannotParseResponse, "the response for '\(target.name)' is longer than it says")
            }
            let known = state.unverified.prefix(data.count)
            guard data.starts(with: known) else {
                state.isChanged = true
                try forget(&state, file)
                throw changed
            }
            state.unverified = state.unverified.dropFirst(known.count)
            try file.append(data, count: &state.count)
        }
    }

    /// Checks the length of the file, moves it into place in one step, and returns its length in bytes.
    ///
    /// - Throws: `URLError` with code `.networkConnectionLost` if bytes are missing, and ``RequestError`` with code
    ///   ``RequestError/Code/invalidRequest`` if there is a file that must not be overwritten; the part is kept.
    ///   `URLError` with code `.cannotMoveFile` or `.cannotWriteToFile` for other reasons.
    @discardableResult
    func finish() throws -> Int64 {
        try change { state, file in
            if let total = state.record.total, state.count < total {
                throw URLError(
                    .networkConnectionLost, "only \(state.count) of \(total) bytes of '\(target.name)' have arrived")
            }
            guard try file.status().size == state.count else {
                discard(&state)
                throw changed
            }
            try file.synchronize()
            try didStep(.synchronized)
            guard file.hasName(target.part) else {
                throw URLError(.cannotMoveFile, "the part of '\(target.name)' was removed or replaced meanwhile")
            }
            try target.movePart { try didStep(.linked) }
            target.synchronizeFolder()
            try didStep(.moved)
            removeRecord(state.record)
            state.file = nil
            return state.count
        }
    }

    /// Closes and unlocks the part, which cannot be used any more.
    ///
    /// Part and record are kept if a later run may continue the download, and removed otherwise.
    func close() {
        state.withLock { state in
            guard let file = state.file, let status = try? file.status() else { return }
            if status.size == 0 || state.isOwn && state.record.validator == nil {
                discard(&state)
            } else if state.isOwn, status.size == state.count {
                state.record.stamp = .init(status)
                try? state.record.write(for: target)
            }
            state.file = nil
        }
    }

    /// Removes part and record.
    private func discard(_ state: inout State) {
        guard let file = state.file.take(), file.hasName(target.part) else { return }
        // The record last, because a part without it would be nobody's.
        try? File.remove(target.part)
        removeRecord(state.record)
    }

    private func removeRecord(_ own: ResumeRecord) {
        // Another program, or the next download of this target, may have put a file of its own there.
        guard let found = try? ResumeRecord.read(target.record), found.key == own.key else { return }
        try? File.remove(target.record)
    }

    private func change<Value>(_ work: (inout State, File) throws -> Value) throws -> Value {
        try state.withLock { state in
            guard let file = state.file else { throw unusable }
            return try File.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") { try work(&state, file) }
        }
    }

    private var changed: URLError {
        URLError(.cannotWriteToFile, "another program has changed the part of '\(target.name)'")
    }

    private var unusable: URLError { URLError(.cannotWriteToFile, "the part of '\(target.name)' cannot be used") }
}
