/// The bytes of an unfinished download, in a file beside its target, which a later run can continue.
///
/// A record in another file says to which version of which file the bytes belong, and to whom. The bytes of one version
/// are removed before the record names another version, and the record names a version before its first byte is
/// written. So there is never a file made of two versions, even if the process ends between two steps. Only one
/// download at a time can have the part of a target.
///
/// The functions block until the disk has done its work, and throw a ``SystemError``. When this is released, part and
/// record are kept.
struct PartialFile: Sendable {
    /// A completed step; tests stop after each one.
    enum Step: CaseIterable, Sendable {
        case created
        case truncated
        case recordWritten
        case synchronized
        case moved
    }

    /// The server's bytes differ from the bytes of an earlier run: another program has changed the part.
    struct Changed: Error {}

    /// The most bytes of an earlier run that are compared with the server's.
    private static let overlap: Int64 = 1 << 16

    let target: DownloadTarget
    private let request: URLRequest
    private let didStep: @Sendable (Step) throws -> Void
    /// The part, and the file with the record, which is locked; `nil` after the download was finished or closed.
    private var files: (part: File, state: File)?
    private var record: ResumeRecord
    /// The number of bytes that have arrived; 0 if they cannot be used.
    private(set) var count: Int64 = 0
    /// The bytes of an earlier run after ``count``, which are still in the part; the server's bytes must be the same.
    private var unverified = Data()
    /// Whether the bytes were requested in this run, which may renew its credentials.
    private var isOwn = false
    private var path: String { target.part(record.part) }

    /// Opens or creates the part of a target.
    ///
    /// - Throws: The errors of ``DownloadTarget/openState()``.
    init(
        for target: DownloadTarget, of request: URLRequest,
        didStep: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) throws {
        (self.target, self.request, self.didStep) = (target, request, didStep)
        let state = try target.openState()
        let found = try ResumeRecord(state, orThrow: target.foreignState)
        record = found ?? ResumeRecord()
        let part: File
        do {
            // The record of a part is written before the part has its name, so that the name is known.
            if found == nil { try record.write(to: state) }
            part = try Self.openPart(target.part(record.part))
        } catch {
            // The disk may be full.
            if found == nil { try? File.remove(target.state) }
            throw error
        }
        files = (part, state)
        try didStep(.created)
        let size = try part.status().size
        guard record.isUsable(for: request, size: size) else {
            record.forget()
            return
        }
        // Even a complete part needs a request, and there is no range after its end.
        let overlap = min(Self.overlap, max(0, size - 1))
        count = size - overlap
        unverified = try part.bytes(at: count, count: Int(overlap))
    }

    private static func openPart(_ path: String) throws -> File {
        let part = try File(path, O_RDWR | O_APPEND | O_CREAT)
        if try part.status().isOwnFile { return part }
        try File.remove(path)
        return try File(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL)
    }

    /// Whether there is a part, which an error may have discarded.
    var isOpen: Bool { files != nil }

    /// How the download continues.
    var resumption: Resumption { Resumption(count: count, validator: record.validator, total: record.total) }

    /// Whether a response to this requester belongs to the bytes that have arrived.
    func belongs(to requester: Requester) -> Bool { isOwn || record.belongs(to: requester) }

    /// Prepares for the body of a response, and removes the bytes that it replaces.
    ///
    /// - Parameters:
    ///   - offset: Where the body begins: 0 for the whole file, or the start of the ``resumption``.
    ///   - validator: The version of the file. Without it, a later run begins from the start.
    ///   - total: The length of the whole file in bytes, if it is known.
    ///   - requester: Who has requested it.
    mutating func begin(
        at offset: Int64, _ validator: StrongValidator?, total: Int64?, for requester: Requester
    ) throws {
        guard let files, offset <= count else { throw unusable }
        isOwn = true
        // The body has other bytes in their place.
        if offset < count { unverified = Data() }
        // Otherwise they stay: many short runs would take away what an earlier run has received.
        try files.part.truncate(to: offset + Int64(unverified.count))
        count = offset
        try didStep(.truncated)
        record.describe(request, by: requester, validator, total: total)
        // Always, because a record that was forgotten is still in its file.
        try record.write(to: files.state)
        try didStep(.recordWritten)
    }

    /// Writes the next bytes of the body.
    ///
    /// - Throws: `URLError` with code `.cannotParseResponse` if the body is too long; then everything is discarded.
    ///   ``Changed``; then the part has no bytes that can be used.
    mutating func append(_ data: Data) throws {
        guard let part = files?.part else { throw unusable }
        guard Int64(data.count) <= (record.total ?? .max) - count else {
            discard()
            throw URLError(.cannotParseResponse, "the response for '\(target.name)' is longer than it says")
        }
        let known = unverified.prefix(data.count)
        guard data.starts(with: known) else {
            (count, unverified) = (0, Data())
            record.forget()
            throw Changed()
        }
        unverified = unverified.dropFirst(known.count)
        count += Int64(known.count)
        try part.append(data.dropFirst(known.count), count: &count)
    }

    /// Checks the length of the file, moves it into place in one step, and returns its length in bytes.
    ///
    /// - Throws: `URLError` with code `.networkConnectionLost` if bytes are missing, and ``RequestError`` with code
    ///   ``RequestError/Code/invalidRequest`` if there is a file that must not be overwritten; the part is kept.
    ///   `URLError` with code `.cannotMoveFile` or `.cannotWriteToFile` for other reasons.
    @discardableResult
    mutating func finish() throws -> Int64 {
        guard let files else { throw unusable }
        if let total = record.total, count < total {
            throw URLError(.networkConnectionLost, "only \(count) of \(total) bytes of '\(target.name)' have arrived")
        }
        // The file is shorter than the part of the earlier run.
        if !unverified.isEmpty { try files.part.truncate(to: count) }
        guard try files.part.status().size == count else {
            discard()
            throw URLError(.cannotWriteToFile, "another program has changed the part of '\(target.name)'")
        }
        try files.part.synchronize()
        try didStep(.synchronized)
        guard files.part.hasName(path) else {
            throw URLError(.cannotMoveFile, "the part of '\(target.name)' was removed or replaced")
        }
        try target.move(part: path)
        try didStep(.moved)
        discard()
        return count
    }

    /// Closes and unlocks the part, which cannot be used any more.
    ///
    /// Part and record are kept if a later run may continue the download, and removed otherwise.
    mutating func close() {
        if let files, (try? files.part.status().size) == 0 || isOwn && record.validator == nil { discard() }
        files = nil
    }

    /// Removes part and record, but no file that another program has put there.
    private mutating func discard() {
        guard let (part, state) = files.take() else { return }
        if part.hasName(path) { try? File.remove(path) }
        if state.hasName(target.state) { try? File.remove(target.state) }
    }

    private var unusable: URLError { URLError(.cannotWriteToFile, "the part of '\(target.name)' cannot be used") }
}
