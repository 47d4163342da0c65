import URLConfig

/// Downloads and uploads a large file, with a progress line.
@main
struct TransferApp {
    private static let usage = """
        usage: transfer [<url> <file>]
          Without arguments, it downloads and uploads against a server that it starts itself.
          <url> <file>    downloads the URL to the file; a download that was stopped continues
        """

    static func main() async {
        // Errors are printed below.
        URLSession.Config.defaultLogger = nil
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch words.count {
            case 0: try await showTransfers()
            case 2: try await download(words[0], to: URL(filePath: words[1]))
            default:
                print(usage)
                if words != ["--help"], words != ["-h"] { exit(2) }
            }
        } catch {
            // The description of a URLError is its whole user info.
            let text = (error as? URLError)?.localizedDescription ?? "\(error)"
            FileHandle.standardError.write(Data("\ntransfer: \(text)\n".utf8))
            exit(1)
        }
    }

    /// Downloads from and uploads to the server of this example, whose first response breaks off in the middle.
    private static func showTransfers() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Store.run { host in
            print("A server is listening on \(host).")
            let films = Films(api: .init(host: host))
            let line = ProgressLine("Download")
            let file = try await films.download(to: folder.appending(path: "film.mp4")) {
                line.show($0.bytesReceived, of: $0.totalBytesToReceive)
            }
            line.end()
            print("\(file.byteCount) bytes in \(file.head.attempts.count) attempts:")
            for attempt in file.head.attempts { print("  \(attempt)") }
            let upload = ProgressLine("Upload")
            let size = try await films.upload(file.file) { upload.show($0.bytesSent, of: $0.totalBytesToSend) }
            upload.end()
            print("The server has received a form of \(size) bytes.")
        }
    }

    private static func download(_ url: String, to target: URL) async throws {
        let line = ProgressLine(target.lastPathComponent)
        let request = URLRequest.with(.init()) { $0.url = URL(string: url) }
        let file = try await URLSession.shared.download(for: request, to: target) {
            $0.retry = .standard
            $0.progress = { line.show($0.bytesReceived, of: $0.totalBytesToReceive) }
        }
        line.end()
        print(file)
    }
}
