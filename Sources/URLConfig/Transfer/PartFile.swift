/// The bytes of an unfinished download, in a file beside its target, which a later run can continue.
///
/// A sidecar remembers which version of which file the bytes belong to, and whose. It names no version before the first
/// byte of another one is written, and its own version before the first byte of that. So there is never a file made of
/// two versions, even if the process ends between two steps. There are no bytes without a sidecar, so that nobody
/// else's file is taken for a part. Only one download at a time can have the part of a target.
///
/// The functions block until the disk has done its work. Call them one after another. When this is released, part and
/// sidecar are kept, unless the download was finished or discarded.
final class PartFile: Sendable {
    /// What has just been done; tests stop after each step.
    enum Step: CaseIterable, Sendable {
        case versionRemoved
        case truncated
        case sidecarWritten
        case synchronized
        case linked
        case moved
    }

    /// The most bytes that are compared with the server's after a run that was killed.
    private static let overlap: Int64 = 1 << 16

    struct State {
        /// `nil` after the download was finished or discarded.
        var file: OpenFile?
        /// The number of bytes that have arrived.
        var count: Int64 = 0
        /// The length of the file; `nil` if it is unknown.
        var total: Int64? { sidecar.total }
        var validator: StrongValidator? { sidecar.validator }
        var sidecar: Sidecar
        /// Whether the bytes were requested in this run, which may renew its credentials.
        var isOwn = false
        /// What an earlier run has written last after ``count``, if it could not say whether that was all.
        ///
        /// The server's bytes must be the same.
        var unverified = Data()
        /// Whether they are not the same.
        var isChanged = false
        /// The number of bytes after the body of the current response; `nil` if it is unknown.
        var end: Int64? = 0
        /// Whether the bytes of an earlier run were removed.
        var isRestarted = false
    }

    let target: DownloadTarget
    let didStep: @Sendable (Step) throws -> Void
    /// The lock is held while the disk works; it is not shared with anything else.
    let state: Locked<State>

    /// Opens or creates the part of a target.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has the part;
    ///   `URLError` with code `.cannotOpenFile` or `.cannotCreateFile`, with the `POSIXError`.
    convenience init(
        for target: DownloadTarget, of request: URLRequest,
        didStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) throws {
        var target = target
        let (file, sidecar) = try OpenFile.part(of: &target)
        try self.init(for: target, of: request, in: file, sidecar, didStep: didStep)
    }

    /// - Parameters:
    ///   - file: The open part.
    ///   - sidecar: Its description.
    init(
        for target: DownloadTarget, of request: URLRequest, in file: OpenFile, _ sidecar: Sidecar? = nil,
        didStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) throws {
        self.target = target
        self.didStep = didStep
        var state = State(file: file, sidecar: try Sidecar(file, of: request))
        let status = try file.status()
        if let sidecar, sidecar.validator != nil, sidecar.request == Fingerprint(request, key: sidecar.key),
            status.size <= sidecar.total ?? .max, sidecar.stamp ?? .init(status) == .init(status)
        {
            state.sidecar = sidecar
            state.count = status.size
            if sidecar.stamp == nil {
                state.count -= min(Self.overlap, max(0, status.size - 1))
                state.unverified = try file.bytes(state.count..<status.size)
            }
            state.end = state.count
        }
        self.state = Locked(state)
    }

    /// The number of bytes that have arrived; 0 if they cannot be used.
    var count: Int64 { state.withLock(\.count) }

    /// How the download continues.
    var resumption: Resumption {
        state.withLock { Resumption(count: $0.count, validator: $0.validator, total: $0.total) }
    }

    /// Whether the whole body of a 206 has arrived, but the file has more bytes, which have to be requested.
    var needsMore: Bool {
        state.withLock { state in
            guard let total = state.total, let end = state.end else { return false }
            return state.count == end && end < total
        }
    }

    /// Whether a response to this requester belongs to the bytes that have arrived.
    func belongs(to requester: Requester) -> Bool {
        state.withLock { $0.isOwn || $0.sidecar.requester == requester.fingerprint(key: $0.sidecar.key) }
    }

    /// Whether another program has changed the part, since the last call of this function.
    func takeChange() -> Bool {
        state.withLock { state in
            defer { state.isChanged = false }
            return state.isChanged
        }
    }

    /// Begins from the start, by default without knowing a version.
    ///
    /// - Parameters:
    ///   - validator: The version of the file. Without it, a later run begins from the start, too.
    ///   - total: The length of the file in bytes, if it is known.
    ///   - requester: Who has requested it.
    /// - Throws: `URLError` with code `.cannotWriteToFile` or `.cannotCreateFile`, with the `POSIXError`.
    func restart(
        _ validator: StrongValidator? = nil, total: Int64? = nil, for requester: Requester = .anonymous
    ) throws {
        try change { state, file in
            try forget(&state, file)
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") { try file.truncate(to: 0) }
            try didStep(.truncated)
            (state.end, state.isOwn) = (total, true)
            (state.sidecar.validator, state.sidecar.total) = (state.sidecar.request == nil ? nil : validator, total)
            state.sidecar.requester = requester.fingerprint(key: state.sidecar.key)
            try describe(state)
            try didStep(.sidecarWritten)
        }
    }

    /// The bytes cannot be used any more.
    private func forget(_ state: inout State, _ file: OpenFile) throws {
        (state.count, state.end, state.unverified, state.isRestarted) = (0, 0, Data(), true)
        (state.sidecar.validator, state.sidecar.total, state.sidecar.stamp) = (nil, nil, nil)
        if try file.status().size > 0 {
            try describe(state)
            // After a power failure, new bytes must not be beside the description of old ones.
            target.synchronizeFolder()
        }
        try didStep(.versionRemoved)
    }

    /// Continues with the body of a 206.
    ///
    /// - Parameters:
    ///   - range: The bytes in the body, which begin where the ``resumption`` does.
    ///   - total: The length of the file in bytes.
    ///   - requester: Who has requested it.
    /// - Throws: As ``restart(_:total:for:)``.
    func resume(_ range: Range<Int64>, total: Int64, for requester: Requester = .anonymous) throws {
        try change { state, file in
            guard range.lowerBound <= state.count, state.validator != nil else { throw unusable }
            var sidecar = state.sidecar
            (sidecar.total, sidecar.stamp) = (total, nil)
            sidecar.requester = requester.fingerprint(key: sidecar.key)
            if sidecar != state.sidecar {
                state.sidecar = sidecar
                try describe(state)
                try didStep(.sidecarWritten)
            }
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") {
                try file.truncate(to: range.lowerBound)
            }
            if range.lowerBound < state.count { state.unverified = Data() }
            (state.count, state.end, state.isOwn) = (range.lowerBound, range.upperBound, true)
        }
    }

    private func describe(_ state: State) throws {
        try target.attempt(.cannotCreateFile, "the description of '\(target.name)' cannot be written") {
            try state.sidecar.write(for: target)
        }
    }

    /// Writes the next bytes of the body.
    ///
    /// - Throws: `URLError` with code `.cannotWriteToFile`, and the `POSIXError` such as `ENOSPC`; the bytes before it
    ///   are kept. `URLError` with code `.cannotParseResponse` if the body is too long; then everything is discarded.
    ///   `URLError` with code `.cannotWriteToFile` if another program has changed the part, see ``takeChange()``.
    func append(_ data: Data) throws {
        try change { state, file in
            guard Int64(data.count) <= (state.end ?? .max) - state.count else {
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
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") {
                try file.append(data, count: &state.count)
            }
        }
    }

    /// Closes and unlocks the part, which cannot be used any more.
    ///
    /// Part and sidecar are kept if a later run may continue the download, and removed otherwise.
    func close() {
        state.withLock { state in
            guard let file = state.file, let status = try? file.status() else { return }
            if status.size == 0 || state.isRestarted && state.validator == nil {
                discard(&state)
            } else if state.isOwn, status.size == state.count {
                state.sidecar.stamp = .init(status)
                try? state.sidecar.write(for: target)
            }
            state.file = nil
        }
    }

    /// Removes part and sidecar.
    func discard() { state.withLock { discard(&$0) } }

    func discard(_ state: inout State) {
        guard let file = state.file else { return }
        state.file = nil
        guard file.hasName(target.part) else { return }
        // The sidecar last, because a part without it would be nobody's.
        try? POSIXError.unlink(target.part)
        removeSidecar(state.sidecar)
    }

    func removeSidecar(_ own: Sidecar) {
        // Another program, or the next download of this target, may have put a file of its own there.
        guard let found = try? Sidecar.read(target.sidecar), found.key == own.key else { return }
        try? POSIXError.unlink(target.sidecar)
    }

    func change(_ body: (inout State, OpenFile) throws -> Void) throws {
        try state.withLock { state in
            guard let file = state.file else { throw unusable }
            try body(&state, file)
        }
    }

    var changed: URLError { URLError(.cannotWriteToFile, "another program has changed the part of '\(target.name)'") }

    private var unusable: URLError { URLError(.cannotWriteToFile, "the part of '\(target.name)' cannot be used") }
}

extension DownloadTarget {
    /// Waits until the names in the folder are on the disk, if the file system can do this.
    func synchronizeFolder() { try? OpenFile(folder + "/.", O_RDONLY | O_DIRECTORY).synchronize() }

    /// Does something with a file, and says what it was if the system refuses it.
    func attempt(_ code: URLError.Code, _ reason: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as POSIXError {
            throw URLError(code, reason, error)
        }
    }
}
