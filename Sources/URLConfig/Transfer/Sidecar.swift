/// What a later run has to know about the part of a download.
///
/// It contains no secrets, and shows that the library has made the part.
struct Sidecar: Codable, Hashable, Sendable {
    /// A part as it was when a run has closed it: the time changes with each byte that somebody writes.
    struct Stamp: Codable, Hashable, Sendable {
        let size: Int64
        let changed: Int64

        init(_ status: FileStatus) { (size, changed) = (status.size, status.changed) }
    }

    /// The beginning of each sidecar.
    private static let mark = Data("URLConfig download 2\n".utf8)
    private static let longest = 4096

    /// Random bytes for the fingerprints.
    let key: Data
    /// What was requested; `nil` if a later run cannot continue it.
    let request: Fingerprint?
    /// Who has requested it.
    var requester: Fingerprint?
    /// The file with the bytes: another program may have put a file of its own there.
    let inode: UInt64
    /// When that file was created, because its number may be used again; `nil` if the file system does not know it.
    let birth: Int64?
    /// The version of the file on the server; `nil` if the bytes of the part cannot be used.
    var validator: StrongValidator?
    /// The length of the whole file in bytes, if it is known.
    var total: Int64?
    /// `nil` while a run writes to the part, and if that run was killed.
    var stamp: Stamp?

    /// Describes an empty part.
    init(_ file: OpenFile, of request: URLRequest) throws(POSIXError) {
        key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        self.request = Fingerprint(request, key: key)
        inode = try file.status().inode
        birth = file.birth()
    }

    /// Reads a sidecar; `nil` if there is none, or if it was not written to its end.
    ///
    /// - Throws: `EEXIST` if there is something that this library has not made.
    static func read(_ path: String) throws(POSIXError) -> Self? {
        guard try FileStatus.ifPresent(path) != nil else { return nil }
        guard let file = try? OpenFile(path, O_RDONLY), try file.status().isOwnFile,
            let data = try? file.bytes(0..<Int64(longest)), data.starts(with: mark.prefix(data.count))
        else { throw POSIXError(.EEXIST) }
        guard let sidecar = try? JSONDecoder().decode(Self.self, from: data.dropFirst(mark.count)),
            sidecar.validator?.isValid ?? true, sidecar.total ?? 0 >= 0
        else { return nil }
        return sidecar
    }

    /// Whether this describes a file, which the library has made then.
    func describes(_ file: OpenFile) -> Bool {
        guard let status = try? file.status() else { return false }
        return status.inode == inode && file.birth() == birth
    }

    /// Writes or replaces the sidecar, so that there is never a half of it.
    ///
    /// It is on the disk before it has its name: without it, the part would be nobody's after a power failure.
    ///
    /// - Throws: `EEXIST` if there is something that this library has not made.
    func write(for target: DownloadTarget) throws {
        for path in [target.sidecar, target.newSidecar] { _ = try Self.read(path) }
        try POSIXError.unlink(target.newSidecar)
        let file = try OpenFile(target.newSidecar, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        var count: Int64 = 0
        try file.append(Self.mark + JSONEncoder().encode(self), count: &count)
        try file.synchronize()
        _ = try POSIXError.call { rename(target.newSidecar, target.sidecar) }
    }
}
