/// Where a download goes: the file, and the files beside it while the download is unfinished.
struct DownloadTarget: Sendable {
    /// The path of the file.
    let path: String
    /// The name of the file, as errors show it.
    let name: String
    /// Whether an existing file is replaced.
    let overwrites: Bool

    /// How many names are left out for the files beside the target, because others have files with these names.
    var skipped = 0
    /// The folder of the target.
    let folder: String
    /// The file name in the names of the files beside the target.
    private let stem: String

    /// The bytes that have arrived.
    var part: String { hidden("part") }
    /// What a later run has to know about the part.
    var sidecar: String { hidden("state") }
    /// A sidecar that is not complete yet.
    var newSidecar: String { hidden("new") }

    private func hidden(_ kind: String) -> String {
        "\(folder)/.\(stem).urlconfig-\(kind)\(skipped > 0 ? "\(skipped)" : "")"
    }

    /// The name of the part, as errors show it.
    var partName: String { URL(filePath: part).lastPathComponent.onOneLine }

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
        stem = file.utf8.count <= 220 ? file : Fingerprint(file).rawValue.replacing("/", with: "-")
        guard url.isFileURL, ["", "localhost"].contains(url.host() ?? ""), !path.utf8.contains(0) else {
            throw RequestError.refused(.invalidRequest, "the target is not the URL of a local file")
        }
        guard !path.hasSuffix("/"), ![".", ".."].contains(name), !isDirectory else {
            throw RequestError.refused(.invalidRequest, "the target '\(name)' is a directory; add the name of a file")
        }
        try checkFolder()
        try checkFile()
    }

    private var isDirectory: Bool { (try? FileStatus(path, followsLinks: true).isDirectory) ?? false }

    private func checkFolder() throws {
        do {
            _ = try FileStatus(folder, followsLinks: true)
            _ = try POSIXError.call { access(folder, W_OK | X_OK) }
        } catch let error where error.code == .ENOENT {
            throw RequestError.refused(.invalidRequest, "the folder of '\(name)' does not exist; create it")
        } catch {
            throw URLError(.cannotCreateFile, "the file '\(name)' cannot be created in its folder", error)
        }
    }

    private func checkFile() throws {
        let status: FileStatus?
        do {
            status = try FileStatus.ifPresent(path)
        } catch {
            throw URLError(.cannotCreateFile, "the file '\(name)' cannot be created", error)
        }
        guard let status else { return }
        guard overwrites else { throw alreadyExists }
        guard status.isRegular || status.isLink else {
            throw RequestError.refused(.invalidRequest, "the target '\(name)' is not a regular file")
        }
    }

    var alreadyExists: RequestError {
        .refused(.invalidRequest, "the file '\(name)' exists already; remove it, overwrite it or choose another name")
    }
}
