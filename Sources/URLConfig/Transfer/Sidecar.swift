/// What a later run has to know about an unfinished download.
///
/// It contains no secrets.
struct Sidecar: Codable, Hashable, Sendable {
    private static let version = 1
    private static let longest = 4096

    private let version: Int
    /// What was requested.
    let request: Fingerprint
    /// The file with the bytes: another program may have put a file of its own there.
    let inode: UInt64
    /// The version of the file on the server.
    let validator: StrongValidator
    /// The length of the whole file in bytes, if it is known.
    let total: Int64?

    init(request: Fingerprint, inode: UInt64, validator: StrongValidator, total: Int64?) {
        version = Self.version
        self.request = request
        self.inode = inode
        self.validator = validator
        self.total = total
    }

    /// Reads a sidecar; `nil` if it is missing, damaged, invalid or too long.
    init?(contentsOf path: String) {
        guard let file = try? OpenFile(path, O_RDONLY), let status = try? file.status(), status.isOwnFile,
            status.size <= Self.longest, let data = try? file.prefix(Self.longest),
            let sidecar = try? JSONDecoder().decode(Self.self, from: data), sidecar.version == Self.version,
            sidecar.validator.isValid, sidecar.total ?? 0 >= 0
        else { return nil }
        self = sidecar
    }

    /// Writes or replaces the sidecar, so that there is never a half of it.
    func write(for target: DownloadTarget) throws {
        try POSIXError.unlink(target.newSidecar)
        let file = try OpenFile(target.newSidecar, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        var count: Int64 = 0
        try file.append(JSONEncoder().encode(self), count: &count)
        _ = try POSIXError.call { rename(target.newSidecar, target.sidecar) }
    }
}
