/// Where a download goes: the file, and the files beside it while the download is unfinished.
struct DownloadTarget: Sendable {
    /// The path of the file.
    let path: String
    /// The name of the file, as errors show it.
    let name: String
    /// Whether an existing file is replaced.
    let overwrites: Bool
    private let folder: String
    /// The beginning of the paths of the files beside the target.
    private let hidden: String

    /// The path of the record about the part, for a later run.
    var state: String { hidden + "state" }

    /// The path of the bytes that have arrived.
    func part(_ name: String) -> String { "\(hidden)part-\(name)" }

    /// Checks that a file can be created here.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a target that is not a local file,
    ///   is a directory, or exists; `URLError` with code `.cannotCreateFile` for reasons of the system.
    init(_ url: URL, overwrites: Bool) throws {
        let url = url.absoluteURL
        let file = url.lastPathComponent
        path = url.path(percentEncoded: false)
        name = file.onOneLine
        self.overwrites = overwrites
        folder = url.deletingLastPathComponent().path(percentEncoded: false)
        // A name has at most 255 bytes.
        let stem = file.utf8.count <= 200 ? file : String(Digest(file).value, radix: 36)
        hidden = "\(folder)/.\(stem).urlconfig-"
        guard url.isFileURL, ["", "localhost"].contains(url.host() ?? ""), !path.utf8.contains(0) else {
            throw RequestError.refused("the target is not a local file URL")
        }
        let isDirectory = (try? File.Status(path, followsLinks: true).isDirectory) ?? false
        guard !path.hasSuffix("/"), ![".", ".."].contains(name), !isDirectory else {
            throw RequestError.refused("the target '\(name)' is a directory; add the name of a file")
        }
        _ = try File.attempt(.cannotCreateFile, "the file '\(name)' cannot be created in its folder") {
            try File.call { access(folder, W_OK | X_OK) }
        }
        try File.attempt(.cannotCreateFile, "the file '\(name)' cannot be created", checkPlace)
    }

    /// Checks whether there may be a file in the place of this one.
    private func checkPlace() throws {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SystemError(code: errno)
        }
        let found = File.Status(status)
        guard overwrites else {
            throw RequestError.refused(
                "the file '\(name)' exists already; set overwrites: true, or choose another name")
        }
        guard found.isRegular || found.isLink else {
            throw RequestError.refused("the target '\(name)' is not a regular file")
        }
    }

    /// Opens or creates the file with the state, and locks it.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has the state, or
    ///   has just created the target; the error ``foreignState``.
    func openState() throws -> File {
        // A download that is just finished may have the first one.
        for _ in 0..<3 {
            let file = try File(state, O_RDWR | O_CREAT, mode: 0o600)
            let status = try file.status()
            if status.isRemoved { continue }
            guard status.isOwnFile else { throw foreignState }
            guard try file.lock() else { break }
            guard file.hasName(state) else { continue }
            do {
                // It may have finished since this was checked.
                try checkPlace()
            } catch {
                if status.size == 0 { try? File.remove(state) }
                throw error
            }
            return file
        }
        throw RequestError.refused("'\(name)' is being downloaded already; wait, or choose another name")
    }

    /// Somebody else has made the file with the name of the state.
    var foreignState: URLError {
        let name = URL(filePath: state).lastPathComponent.onOneLine
        return URLError(.cannotCreateFile, "'\(name)' was not made by this library; remove it")
    }

    /// Moves a part into place, in one step.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is a file that must not be
    ///   overwritten; `URLError` with code `.cannotMoveFile`.
    func move(part: String) throws {
        try File.attempt(.cannotMoveFile, "'\(name)' cannot be moved into place") {
            try checkPlace()
            if try overwrites || !isLinked(part) { _ = try File.call { rename(part, path) } }
            synchronizeFolder()
        }
    }

    /// Moves a part without replacing a file, not even one that is created at this moment.
    ///
    /// - Returns: `false` if the file system has no hard links.
    private func isLinked(_ part: String) throws -> Bool {
        do throws(SystemError) {
            _ = try File.call { link(part, path) }
        } catch {
            if [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code) { return false }
            if error.code == EEXIST { try checkPlace() }
            throw error
        }
        try? File.remove(part)
        return true
    }

    /// Waits until the names in the folder are on the disk, if the file system can do this.
    private func synchronizeFolder() { try? File(folder + "/.", O_RDONLY | O_DIRECTORY).synchronize() }
}
