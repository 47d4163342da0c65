import Foundation
import Testing

@testable import URLConfig

/// Files on disk in forms that are built in memory.
@Suite struct MultipartFormFileTests {
    private let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func refusal(_ file: URL) -> RequestError? {
        var form = MultipartForm()
        form.append("photo", file: file)
        return config.with { $0.body = .multipart(form) }.refusal
    }

    @Test func `a file is sent with its name and the type of its extension`() throws {
        var form = MultipartForm()
        form.append("photo", file: try directory.file("beach.PNG", Data("1".utf8)))
        form.append("text", file: try directory.file("notes", Data("2".utf8)))
        form.append("own", file: try directory.file("a.txt", Data("3".utf8)), name: "b.md", contentType: "text/x-own")
        let request = URLRequest.with(config) { $0.body = .multipart(form) }
        #expect(request.field("Content-Type") == "multipart/form-data; boundary=\(form.boundary)")
        let expected = [
            "--\(form.boundary)", "Content-Disposition: form-data; name=\"photo\"; filename=\"beach.PNG\"",
            "Content-Type: image/png", "", "1",
            "--\(form.boundary)", "Content-Disposition: form-data; name=\"text\"; filename=\"notes\"",
            "Content-Type: application/octet-stream", "", "2",
            "--\(form.boundary)", "Content-Disposition: form-data; name=\"own\"; filename=\"b.md\"",
            "Content-Type: text/x-own", "", "3", "--\(form.boundary)--", "",
        ].joined(separator: "\r\n")
        #expect(request.httpBody == Data(expected.utf8))
    }

    @Test(arguments: [
        ("a\"b.png", "a%22b.png"), ("a\r\nb", "a%0D%0Ab"), ("100% ;'", "100% ;'"), ("%41.txt", "%41.txt"),
        ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"),
    ])
    func `the name of a file cannot end its header field`(name: String, escaped: String) throws {
        var form = MultipartForm()
        form.append("f", file: try directory.file(name, Data("1".utf8)), contentType: .json)
        form.append("g", file: try directory.file("plain"), name: name, contentType: .json)
        let expected =
            "--\(form.boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(escaped)\"\r\n"
            + "Content-Type: application/json\r\n\r\n1\r\n"
            + "--\(form.boundary)\r\nContent-Disposition: form-data; name=\"g\"; filename=\"\(escaped)\"\r\n"
            + "Content-Type: application/json\r\n\r\n\r\n--\(form.boundary)--\r\n"
        #expect(try form.data(JSONEncoder()) == Data(expected.utf8))
    }

    /// The sizes around those of the pieces in which files and data are copied.
    @Test(arguments: [0, 1, 1 << 18, (1 << 18) + 1, 1 << 20, (1 << 20) + 1, 3_000_000])
    func `a file is sent as the same bytes from memory`(size: Int) throws {
        var generator = SeededGenerator(seed: UInt64(size))
        let content = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
        var form = MultipartForm()
        let empty = form
        form.append("f", file: try directory.file("x.bin", content))
        var inMemory = empty
        inMemory.append(URLRequest.File(key: "f", name: "x.bin", data: content))
        #expect(try form.data(JSONEncoder()) == inMemory.data(JSONEncoder()))
    }

    @Test func `a file is read when the request is built`() throws {
        let file = try directory.file("x", Data("old".utf8))
        var form = MultipartForm()
        form.append("f", file: file)
        let config = config.with { $0.body = .multipart(form) }
        try Data("newer".utf8).write(to: file)
        #expect(URLRequest.with(config).bodyText?.contains("\r\n\r\nnewer\r\n") == true)
        try FileManager.default.removeItem(at: file)
        #expect(config.refusal?.code == .invalidRequest)
    }

    @Test func `a file that is not there is refused; the error names the part and the file`() {
        let error = refusal(directory.url.appending(component: "beach.png"))
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.reason
                == "body: part 'photo': the file 'beach.png' cannot be read: No such file or directory")
        let cause = (error?.underlyingError as? RequestError)?.underlyingError as? POSIXError
        #expect(cause?.code == .ENOENT)
    }

    @Test func `what is not a regular file is refused, and not opened`() throws {
        let cases = [
            (directory.url, "is a directory"), (try directory.pipe("pipe"), "is not a regular file"),
            (URL(filePath: "/dev/zero"), "is not a regular file"),
        ]
        for (url, reason) in cases {
            let error = refusal(url)
            #expect(error?.code == .invalidRequest)
            #expect(
                error?.reason
                    == "body: part 'photo': '\(url.lastPathComponent)' \(reason); only a regular file can be sent")
        }
    }

    @Test func `a link to a file is sent as the file`() throws {
        let file = try directory.file("x", Data("1".utf8))
        let link = directory.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(refusal(link) == nil)
        try FileManager.default.removeItem(at: file)
        #expect(refusal(link)?.code == .invalidRequest)
    }

    @Test(arguments: ["https://h.example/etc/hosts", "file:///etc/hosts%00.png", "data:,x"])
    func `a URL that is not that of a file is refused`(url: String) throws {
        let error = refusal(try #require(URL(string: url)))
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("is not that of a file") == true, "\(error?.reason ?? "")")
    }

    /// The superuser can read every file.
    @Test(.enabled(if: getuid() != 0)) func `a file without permission is refused`() throws {
        let file = try directory.file("secret", Data("1".utf8))
        #expect(chmod(file.path(percentEncoded: false), 0) == 0)
        #expect(refusal(file)?.reason.hasSuffix("the file 'secret' cannot be read: Permission denied") == true)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
    func `a file that fails when it is read, and one that does not know its size, are refused`() {
        #expect(refusal(URL(filePath: "/proc/self/mem"))?.reason.contains("'mem' cannot be read: ") == true)
        #expect(refusal(URL(filePath: "/proc/self/status"))?.reason.contains("'status' had 0 bytes") == true)
    }

    @Test func `a file that does not fit into memory is refused, and does not crash`() throws {
        let memory = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
        let file = try directory.sparseFile("large", size: memory + 1)
        #expect(refusal(file)?.reason.contains("'large' does not fit into memory") == true)
        let half = try directory.sparseFile("half", size: memory / 2)
        var form = MultipartForm()
        form.append("a", file: half)
        form.append("b", file: half)
        form.append("c", file: half)
        #expect(throws: RequestError.self) { try form.data(JSONEncoder()) }
    }

    @Test(arguments: [0, 1, 1 << 18, 999_999, 1_000_001, 2_000_000])
    func `a file whose size changes while it is read is refused`(newSize: Int64) throws {
        let file = try directory.sparseFile("log", size: 1_000_000)
        var form = MultipartForm()
        form.append("f", file: file)
        var received = 0
        let error = #expect(throws: RequestError.self) {
            try form.forEachPiece(JSONEncoder()) { piece in
                // The first pieces are the part's header and the beginning of the file.
                if received < 1000, piece.count > 1000 { try file.setSize(newSize) }
                received += piece.count
            }
        }
        #expect(error?.code == .invalidRequest)
        let now = newSize < 1_000_000 ? "\(max(newSize, 1 << 18))" : "more"
        #expect(
            error?.reason == "part 'f': the file 'log' had 1000000 bytes, but now it has \(now); send a copy of it")
        #expect(received < 1_000_000 + 1000)
    }
}
