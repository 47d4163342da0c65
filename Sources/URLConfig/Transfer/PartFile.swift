/// The bytes of an unfinished download, in a file beside its target, which a later run can continue.
///
/// A sidecar remembers which version of which file the bytes belong to. It is removed before the first byte of another
/// version is written, and written before the first byte of its own version. So there is never a file made of two
/// versions, even if the process ends between two steps. Only one download at a time can have the part of a target.
///
/// The functions block until the disk has done its work. Call them one after another. When this is released, part and
/// sidecar are kept, unless the download was finished or discarded.
final class PartFile: Sendable {
    /// What has just been done; tests stop after each step.
    enum Step: CaseIterable, Sendable {
        case sidecarRemoved
        case truncated
        case sidecarWritten
        case synchronized
        case linked
        case moved
    }

    struct State {
        /// `nil` after the download was finished or discarded.
        var file: OpenFile?
        /// The number of bytes that have arrived.
        var count: Int64 = 0
        /// The length of the file; `nil` if it is unknown.
        var total: Int64?
        var validator: StrongValidator?
        /// The number of bytes after the body of the current response; `nil` if it is unknown.
        var end: Int64? = 0
        /// Whether the bytes of an earlier run were removed.
        var isRestarted = false
    }

    let target: DownloadTarget
    /// `nil` if a later run cannot continue the download.
    private let request: Fingerprint?
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
        try self.init(for: target, of: request, in: .part(of: target), didStep: didStep)
    }

    /// - Parameter file: The open part.
    init(
        for target: DownloadTarget, of request: URLRequest, in file: OpenFile,
        didStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) throws {
        self.target = target
        self.request = Fingerprint(request)
        self.didStep = didStep
        var state = State(file: file)
        let status = try file.status()
        if let sidecar = Sidecar(contentsOf: target.sidecar), sidecar.request == self.request,
            sidecar.inode == status.inode, status.size <= sidecar.total ?? .max
        {
            (state.count, state.total, state.validator) = (status.size, sidecar.total, sidecar.validator)
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

    /// Begins from the start, by default without knowing a version.
    ///
    /// - Parameters:
    ///   - validator: The version of the file. Without it, a later run begins from the start, too.
    ///   - total: The length of the file in bytes, if it is known.
    /// - Throws: `URLError` with code `.cannotWriteToFile` or `.cannotCreateFile`, with the `POSIXError`.
    func restart(_ validator: StrongValidator? = nil, total: Int64? = nil) throws {
        try change { state, file in
            (state.count, state.end, state.validator, state.total) = (0, 0, nil, nil)
            state.isRestarted = true
            try target.attempt(.cannotWriteToFile, "the description of '\(target.name)' cannot be removed") {
                try POSIXError.unlink(target.sidecar)
            }
            try didStep(.sidecarRemoved)
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") { try file.truncate(to: 0) }
            try didStep(.truncated)
            (state.total, state.end) = (total, total)
            try describe(&state, file, validator)
        }
    }

    /// Continues with the body of a 206.
    ///
    /// - Parameters:
    ///   - range: The bytes in the body, which begin where the ``resumption`` does.
    ///   - total: The length of the file in bytes.
    /// - Throws: As ``restart(_:total:)``.
    func resume(_ range: Range<Int64>, total: Int64) throws {
        try change { state, file in
            guard range.lowerBound <= state.count, let validator = state.validator else { throw unusable }
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") {
                try file.truncate(to: range.lowerBound)
            }
            (state.count, state.end) = (range.lowerBound, range.upperBound)
            guard state.total != total else { return }
            state.total = total
            try describe(&state, file, validator)
        }
    }

    private func describe(_ state: inout State, _ file: OpenFile, _ validator: StrongValidator?) throws {
        guard let validator, let request else { return }
        try target.attempt(.cannotCreateFile, "the description of '\(target.name)' cannot be written") {
            try Sidecar(request: request, inode: file.status().inode, validator: validator, total: state.total)
                .write(for: target)
        }
        state.validator = validator
        try didStep(.sidecarWritten)
    }

    /// Writes the next bytes of the body.
    ///
    /// - Throws: `URLError` with code `.cannotWriteToFile`, and the `POSIXError` such as `ENOSPC`; the bytes before it
    ///   are kept. `URLError` with code `.cannotParseResponse` if the body is too long; then everything is discarded.
    func append(_ data: Data) throws {
        try change { state, file in
            guard Int64(data.count) <= (state.end ?? .max) - state.count else {
                discard(&state)
                throw URLError(.cannotParseResponse, "the response for '\(target.name)' is longer than it says")
            }
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
            guard let file = state.file else { return }
            let isEmpty = (try? file.status().size) == 0
            if isEmpty || state.isRestarted && state.validator == nil { discard(&state) }
            state = State()
        }
    }

    /// Removes part and sidecar.
    func discard() { state.withLock { discard(&$0) } }

    func discard(_ state: inout State) {
        guard let file = state.file else { return }
        // The sidecar first, because what remains must not be continued.
        try? POSIXError.unlink(target.sidecar)
        if file.hasName(target.part) { try? POSIXError.unlink(target.part) }
        state = State()
    }

    func change(_ body: (inout State, OpenFile) throws -> Void) throws {
        try state.withLock { state in
            guard let file = state.file else { throw unusable }
            try body(&state, file)
        }
    }

    private var unusable: URLError { URLError(.cannotWriteToFile, "the part of '\(target.name)' cannot be used") }
}

extension DownloadTarget {
    /// Does something with a file, and says what it was if the system refuses it.
    func attempt(_ code: URLError.Code, _ reason: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as POSIXError {
            throw URLError(code, reason, error)
        }
    }
}
