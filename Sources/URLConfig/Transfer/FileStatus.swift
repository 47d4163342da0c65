/// What a file is.
struct FileStatus: Sendable {
    let isRegular: Bool
    let isDirectory: Bool
    let isLink: Bool
    /// In bytes.
    let size: Int64
    /// The number of names.
    let names: UInt64
    let owner: uid_t
    let device: UInt64
    let inode: UInt64
    /// When the content or a property has changed, in nanoseconds; no program can choose it.
    let changed: Int64

    init(_ status: stat) {
        let kind = status.st_mode & S_IFMT
        isRegular = kind == S_IFREG
        isDirectory = kind == S_IFDIR
        isLink = kind == S_IFLNK
        size = Int64(status.st_size)
        names = UInt64(status.st_nlink)
        owner = status.st_uid
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        #if canImport(Darwin)
        let time = status.st_ctimespec
        #else
        let time = status.st_ctim
        #endif
        // Two words, because the members of `timespec` cannot be imported in a release build on Linux.
        changed = withUnsafeBytes(of: time) { bytes in
            let words = bytes.bindMemory(to: Int.self)
            return Int64(words[0]) &* 1_000_000_000 &+ Int64(words[1])
        }
    }

    /// The status of the file with a name; a symbolic link is not followed by default.
    init(_ path: String, followsLinks: Bool = false) throws(POSIXError) {
        var status = stat()
        _ = try POSIXError.call { followsLinks ? stat(path, &status) : lstat(path, &status) }
        self.init(status)
    }

    /// The status of the file with a name; `nil` if there is none.
    static func ifPresent(_ path: String) throws(POSIXError) -> Self? {
        do {
            return try Self(path)
        } catch {
            guard error.code == .ENOENT else { throw error }
            return nil
        }
    }

    func isSameFile(as other: Self) -> Bool { (device, inode) == (other.device, other.inode) }

    /// Whether it is a file of this user with one name.
    ///
    /// In a folder that all users may write to, somebody else may have put it there. After a crash, the second name may
    /// be that of the finished file.
    var isOwnFile: Bool { isRegular && names == 1 && owner == geteuid() }
}
