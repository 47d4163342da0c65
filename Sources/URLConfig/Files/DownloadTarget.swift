/// Where a download goes: the file, and the files beside it while the download is unfinished.
struct DownloadTarget: Sendable {
    private static let mostNames = 8

    /// The path of the file.
    let path: String
    /// The name of the file, as errors show it.
    let name: String
    /// Whether an existing file is replaced.
    let overwrites: Bool
    private let folder: String
    /// The file name in the names of the files beside the target.
    private let stem: String
    /// How many names are left out for the files beside the target, because others have files with these names.
    private var skipped = 0

    /// The bytes that have arrived.
    var part: String { hidden("part") }
    /// What a later run has to know about the part.
    var record: String { hidden("state") }
    /// A record that is not complete yet.
    var newRecord: String { hidden("new") }

    private func hidden(_ kind: String) -> String {
        "\(folder)/.\(stem).urlconfig-\(kind)\(skipped > 0 ? "\(skipped)" : "")"
    }

    /// The name of the part, as errors show it.
    private var partName: String { URL(filePath: part).lastPathComponent.onOneLine }

    /// Checks that a file can be created here.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a target that is not a local file,
    ///   is a directory, has no folder, or exists; `URLError` with code `.cannotCreateFile` for reasons of the system.
    init(_ url: URL, overwrites: Bool) throws {
        let url = url.absoluteURL
        path = url.path(percentEncoded: false)
        name = url.lastPathComponent.onOneLine
        self.overwrites = overwrites
        folder = url.deletingLastPathComponent().path(percentEncoded: false)
        let file = url.lastPathComponent
        // A name has at most 255 bytes. Slashes are not possible in it.
        stem = file.utf8.count <= 220 ? file : RequestDigest(file).rawValue.replacing("/", with: "-")
        guard url.isFileURL, ["", "localhost"].contains(url.host() ?? ""), !path.utf8.contains(0) else {
            throw RequestError.refused(.invalidRequest, "the target is not the URL of a local file")
        }
        let isDirectory = (try? File.Status(path, followsLinks: true).isDirectory) ?? false
        guard !path.hasSuffix("/"), ![".", ".."].contains(name), !isDirectory else {
            throw RequestError.refused(.invalidRequest, "the target '\(name)' is a directory; add the name of a file")
        }
        guard access(folder, F_OK) == 0 || errno != ENOENT else {
            throw RequestError.refused(.invalidRequest, "the folder of '\(name)' does not exist; create it")
        }
        _ = try File.attempt(.cannotCreateFile, "the file '\(name)' cannot be created in its folder") {
            try File.call { access(folder, W_OK | X_OK) }
        }
        let found = try File.attempt(.cannotCreateFile, "the file '\(name)' cannot be created") {
            try File.Status.ifPresent(path)
        }
        guard let found else { return }
        guard overwrites else { throw alreadyExists }
        guard found.isRegular || found.isLink else {
            throw RequestError.refused(.invalidRequest, "the target '\(name)' is not a regular file")
        }
    }

    private var alreadyExists: RequestError {
        .refused(.invalidRequest, "the file '\(name)' exists already; remove it, overwrite it or choose another name")
    }

    private var isBusy: RequestError {
        .refused(.invalidRequest, "'\(name)' is being downloaded already; wait, or choose another name")
    }

    /// Opens or creates the part, and locks it.
    ///
    /// Files that this library has not made are left alone; then the part gets another name.
    ///
    /// - Returns: The part, and its record. Without one, the part is empty.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has it; `URLError`
    ///   with code `.cannotOpenFile` or `.cannotCreateFile`.
    mutating func openPart() throws -> (file: File, record: ResumeRecord?) {
        while true {
            do {
                return try openNamedPart()
            } catch let error as POSIXError {
                let isForeign = error.code == .EEXIST
                guard isForeign, skipped + 1 < Self.mostNames else {
                    let advice = isForeign ? "; remove it, because this library has not made it" : ""
                    throw URLError(.cannotCreateFile, "'\(partName)' cannot be opened\(advice)", error)
                }
                skipped += 1
            }
        }
    }

    /// - Throws: `EEXIST` if there is something that this library has not made.
    private func openNamedPart() throws -> (File, ResumeRecord?) {
        // The first part may be that of a download that is just finished, or have to be replaced.
        for _ in 0..<2 {
            for path in [record, newRecord] { _ = try ResumeRecord.read(path) }
            let file = try openOrCreate()
            guard try File.attempt(.cannotOpenFile, "'\(partName)' cannot be locked", file.lock) else { throw isBusy }
            // Only with the lock, the name cannot get another file.
            guard file.hasName(part) else { continue }
            let (found, status) = (try ResumeRecord.read(record), try file.status())
            guard let found, found.describes(file) else {
                // The record of a part is written before its first byte.
                guard status.isOwnFile, status.size == 0 else { throw POSIXError(.EEXIST) }
                return (file, nil)
            }
            if status.isOwnFile { return (file, found) }
            // Writing to it could change the finished file, or let somebody else read or write the new one.
            try File.attempt(.cannotCreateFile, "'\(partName)' cannot be replaced") { try File.remove(part) }
        }
        throw isBusy
    }

    private func openOrCreate() throws -> File {
        do {
            return try File(part, O_RDWR | O_APPEND | O_CREAT)
        } catch {
            let found = try? File.Status(part)
            guard found?.isOwnFile ?? true else { throw POSIXError(.EEXIST) }
            throw found == nil
                ? URLError(.cannotCreateFile, "'\(partName)' cannot be created", error)
                : URLError(.cannotOpenFile, "'\(partName)' cannot be opened", error)
        }
    }

    /// Moves the part into place, in one step.
    ///
    /// - Parameters:
    ///   - hardLink: Gives a file a second name, which some file systems cannot do.
    ///   - didLink: Called when the file has both names.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is a file that must not be
    ///   overwritten; `URLError` with code `.cannotMoveFile`.
    func movePart(hardLink: (String, String) -> Int32 = { link($0, $1) }, didLink: () throws -> Void) throws {
        try File.attempt(.cannotMoveFile, "'\(name)' cannot be moved into place") {
            if !overwrites {
                if hardLink(part, path) == 0 {
                    try didLink()
                    // The file is in place, so the other name does no harm if it cannot be removed.
                    try? File.remove(part)
                    return
                }
                guard errno != EEXIST, (try? File.Status(path)) == nil else { throw alreadyExists }
            }
            _ = try File.call { rename(part, path) }
        }
    }

    /// Waits until the names in the folder are on the disk, if the file system can do this.
    func synchronizeFolder() { try? File(folder + "/.", O_RDONLY | O_DIRECTORY).synchronize() }
}
