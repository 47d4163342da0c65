import FlyingFox
import Testing

@testable import URLConfig

/// Forms as `multipart/form-data`: RFC 7578, and WHATWG HTML §4.10.21.8 for names.
@Suite(.inTime) struct MultipartFormTests {
    private let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }
    private let directory = TemporaryDirectory()

    private func text(_ form: MultipartForm) -> String? {
        URLRequest.with(config) { $0.body = .multipart(form) }.bodyText
    }

    /// A body with these parts, each of which has header fields and a content.
    private func body(_ boundary: String, _ parts: [String]...) -> String {
        parts.map { "--\(boundary)\r\nContent-Disposition: form-data; \($0.joined(separator: "\r\n"))\r\n" }.joined()
            + "--\(boundary)--\r\n"
    }

    @Test func `the bytes follow RFC 7578; a file has its name and the type of its extension`() throws {
        var form = MultipartForm()
        form.append("title", "Holi\u{E9}\r\nday")
        form.append("photo", data: Data("\r\n--".utf8), filename: "beach.png", contentType: .png)
        form.append("named", data: Data(), filename: "x")
        form.append("raw", data: Data("1".utf8))
        form.append("csv", data: Data("2".utf8), contentType: "text/csv")
        form.append("file", file: try directory.file("beach.PNG", Data("3".utf8)))
        form.append("text", file: try directory.file("notes", Data("4".utf8)))
        form.append("own", file: try directory.file("a.txt"), filename: "b.md", contentType: "text/x-own")
        let request = URLRequest.with(config) { $0.body = .multipart(form) }
        #expect(request.field("Content-Type") == "multipart/form-data; boundary=\(form.boundary)")
        let bytes = "Content-Type: application/octet-stream"
        let expected = body(
            form.boundary, ["name=\"title\"", "", "Holi\u{E9}\r\nday"],
            ["name=\"photo\"; filename=\"beach.png\"", "Content-Type: image/png", "", "\r\n--"],
            ["name=\"named\"; filename=\"x\"", bytes, "", ""], ["name=\"raw\"", bytes, "", "1"],
            ["name=\"csv\"", "Content-Type: text/csv", "", "2"],
            ["name=\"file\"; filename=\"beach.PNG\"", "Content-Type: image/png", "", "3"],
            ["name=\"text\"; filename=\"notes\"", bytes, "", "4"],
            ["name=\"own\"; filename=\"b.md\"", "Content-Type: text/x-own", "", ""])
        #expect(request.httpBody == Data(expected.utf8))
        let own = URLRequest.with(config) { ($0.headers[.contentType], $0.body) = ("text/x", .multipart(form)) }
        #expect(own.refusal.says(.invalidRequest, "Content-Type"), "it has no boundary")
    }

    @Test func `a request that is made by hand gets fields by name, then files in order`() throws {
        var request = URLRequest(url: try #require(URL(string: "https://h.example/form")))
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        request.setMultipartFormData(
            parameters: ["b": "2", "a": "1"],
            files: [
                .init(key: "z", name: "z.txt", data: Data("Z".utf8), mimeType: .text),
                .init(key: "y", name: "y.bin", data: Data("Y".utf8)),
            ])
        let type = try #require(request.field("Content-Type").flatMap { MediaType($0) })
        #expect(type.essence == "multipart/form-data")
        let expected = body(
            try #require(type.parameters["boundary"]), ["name=\"a\"", "", "1"], ["name=\"b\"", "", "2"],
            ["name=\"z\"; filename=\"z.txt\"", "Content-Type: text/plain; charset=utf-8", "", "Z"],
            ["name=\"y\"; filename=\"y.bin\"", "Content-Type: application/octet-stream", "", "Y"])
        #expect(request.httpBody == Data(expected.utf8))
        #expect(request.httpMethod == "POST")
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0Ab"), ("a\rb", "a%0Db"), ("\n\r", "%0A%0D"),
        ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"), ("100% \\ ;'", "100% \\ ;'"), ("\"\u{301}", "%22\u{301}"),
        ("a%22", "a%22"), ("x\"\r\nContent-Type: text/html\r\n\r\n", "x%22%0D%0AContent-Type: text/html%0D%0A%0D%0A"),
    ])
    func `names cannot end their header field`(plain: String, name: String) throws {
        var form = MultipartForm()
        form.append(plain, "v")
        form.append(plain, data: Data("d".utf8), filename: plain)
        form.append(plain, file: try directory.file("x"), filename: plain)
        let expected = body(
            form.boundary, ["name=\"\(name)\"", "", "v"],
            ["name=\"\(name)\"; filename=\"\(name)\"", "Content-Type: application/octet-stream", "", "d"],
            ["name=\"\(name)\"; filename=\"\(name)\"", "Content-Type: application/octet-stream", "", ""])
        #expect(text(form).map { Data($0.utf8) } == Data(expected.utf8))
    }

    /// The header fields and the content of each part.
    private func parts(_ form: MultipartForm, _ config: URLRequest.Config? = nil) -> [String] {
        let text = URLRequest.with(config ?? self.config) { $0.body = .multipart(form) }.bodyText ?? ""
        return text.components(separatedBy: "--\(form.boundary)").dropFirst().dropLast().map {
            $0.trimmingCharacters(in: .whitespacesAndNewlines).replacing("\r\n", with: "|")
                .replacing("Content-Disposition: form-data; ", with: "")
        }
    }

    private enum Size: String, QueryValue { case small }

    @Test func `a field takes any value that a query takes, a list becomes several parts, and nil no part`() {
        var form = MultipartForm()
        form.append("text", nil as String?)
        form.append("place", json: nil as [String: Int]?)
        #expect(text(form) == "--\(form.boundary)--\r\n")
        form.append("count", 7)
        form.append("size", Size.small)
        form.append("tags", ["a", "b"])
        form.append("none", [String]())
        #expect(parts(form) == ["name=\"count\"||7", "name=\"size\"||small", "name=\"tags\"||a", "name=\"tags\"||b"])
    }

    private struct Place: Encodable { var cityName = "Rome", visitedAt = Date(timeIntervalSince1970: 0), ratio = 1.0 }

    @Test func `a model becomes a JSON part, by the encoder of when the request is built`() {
        var form = MultipartForm()
        form.append("place", json: Place())
        form.append("literal", json: ["theName": "x"])
        form.append("optional", json: ["theName": "x", "none": nil])
        let snake = config.with {
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            $0.encoder.dateEncodingStrategy = .iso8601
        }
        #expect(
            parts(form, snake) == [
                "name=\"place\"|Content-Type: application/json||"
                    + #"{"city_name":"Rome","ratio":1,"visited_at":"1970-01-01T00:00:00Z"}"#,
                "name=\"literal\"|Content-Type: application/json||" + #"{"theName":"x"}"#,
                "name=\"optional\"|Content-Type: application/json||" + #"{"theName":"x"}"#,
            ])
        #expect(parts(form).first?.contains(#""cityName":"Rome""#) == true)
    }

    @Test func `dates and numbers are encoded as JSON is, by the encoder of the form's preset or the request`() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        func form(_ form: MultipartForm) -> MultipartForm {
            var form = form
            form.append("date", date)
            form.append("dates", [date, date])
            form.append("json", json: [date])
            return form
        }
        let preset = config.with { $0.encoder.dateEncodingStrategy = .millisecondsSince1970 }
        let expected = [
            "date\"||1500", "dates\"||1500", "dates\"||1500", "json\"|Content-Type: application/json||[1500]",
        ]
        #expect(parts(form(MultipartForm()), preset) == expected.map { "name=\"" + $0 })
        #expect(parts(form(MultipartForm(preset))) == expected.map { "name=\"" + $0 })
        let other = form(MultipartForm(preset))
        #expect(try other.data(JSONEncoder()) == other.data(preset.effectiveEncoder))
        #expect(parts(form(MultipartForm())).first == "name=\"date\"||1970-01-01T00:00:01Z")
        var ratio = MultipartForm()
        ratio.append("ratio", Double.nan)
        #expect(config.with { $0.body = .multipart(ratio) }.refusal.says(.invalidRequest, "part 'ratio'"))
    }

    @Test func `a model that cannot be encoded is refused, and the error names its part`() {
        var form = MultipartForm()
        form.append("fine", json: Place())
        form.append("place", json: Place(ratio: .nan))
        let error = config.with { $0.body = .multipart(form) }.refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.hasPrefix("body: part 'place': ratio: ") == true, "\(error?.reason ?? "")")
        #expect((error?.underlyingError as? RequestError)?.underlyingError is EncodingError)
    }

    /// RFC 2046 §5.1.1 allows at most 70 characters; these characters need no quotes in a parameter.
    @Test func `no two forms have one boundary, and each is a token with 128 random bits`() {
        let boundaries = (0..<2000).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == boundaries.count)
        for boundary in boundaries {
            #expect(boundary.utf8.count <= 70)
            #expect(boundary.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        }
        // 25 digits of base 36 have 129 bits. A random number may be shorter, but the longest of many is not.
        let prefix = "URLConfig-"
        #expect(boundaries.allSatisfy { $0.hasPrefix(prefix) })
        #expect(boundaries.map(\.utf8.count).max().map { $0 - prefix.utf8.count } ?? 0 >= 25)
    }

    @Test func `a server receives the boundary and every byte`() async throws {
        try await Loopback.serving { request in
            let type = request.headers[.contentType] ?? ""
            return .init(statusCode: .ok, body: Data("\(type)\n".utf8) + (try await request.bodyData))
        } _: { server in
            var form = MultipartForm()
            form.append("count", 7)
            form.append("place", json: Place())
            form.append("raw", data: Data(0...255))
            let request = server.request { ($0.method, $0.body) = (.post, .multipart(form)) }
            let received = try await server.response(for: request).data
            let sent = try #require(request.httpBody)
            #expect(received == Data("multipart/form-data; boundary=\(form.boundary)\n".utf8) + sent)
        }
    }

    // Files on disk in forms that are built in memory.

    private func refusal(_ file: URL) -> RequestError? {
        var form = MultipartForm()
        form.append("photo", file: file)
        return config.with { $0.body = .multipart(form) }.refusal
    }

    /// The sizes around the size of the pieces in which files and data are copied.
    @Test(arguments: [0, 1, 1 << 18, (1 << 18) + 1, 1 << 20, (1 << 20) + 1, 3_000_000])
    func `a file is sent as the same bytes from memory`(size: Int) throws {
        var generator = SeededGenerator(seed: UInt64(size))
        let content = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
        var form = MultipartForm()
        let empty = form
        form.append("f", file: try directory.file("x.bin", content))
        var inMemory = empty
        inMemory.append("f", data: content, filename: "x.bin")
        #expect(try form.data(JSONEncoder()) == inMemory.data(JSONEncoder()))
    }

    @Test func `a file is read when the request is built, even behind a link`() throws {
        let file = try directory.file("x", Data("old".utf8))
        let link = directory.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        var form = MultipartForm()
        form.append("f", file: file)
        form.append("l", file: link)
        let config = config.with { $0.body = .multipart(form) }
        try Data("newer".utf8).write(to: file)
        #expect(URLRequest.with(config).bodyText?.components(separatedBy: "\r\n\r\nnewer\r\n").count == 3)
        try FileManager.default.removeItem(at: file)
        #expect(config.refusal?.code == .invalidRequest && refusal(link)?.code == .invalidRequest)
    }

    @Test func `anything but a readable regular file is refused; the error names the part and the file`() throws {
        let secret = try directory.file("secret", Data("1".utf8))
        #expect(chmod(secret.path(percentEncoded: false), 0) == 0)
        var cases = [
            (directory.url, "'\(directory.url.lastPathComponent)' is a directory; only a regular file can be sent"),
            (try directory.pipe("pipe"), "'pipe' is not a regular file; only a regular file can be sent"),
            (URL(filePath: "/dev/zero"), "'zero' is not a regular file; only a regular file can be sent"),
            (directory.url.appending(component: "a.png"), "the file 'a.png' cannot be read: No such file or directory"),
        ]
        // The superuser can read every file.
        if getuid() != 0 { cases.append((secret, "the file 'secret' cannot be read: Permission denied")) }
        for (url, reason) in cases {
            let error = refusal(url)
            #expect(error.says(.invalidRequest, "body: part 'photo': \(reason)"), "\(error as Any)")
        }
        for text in ["https://h.example/etc/hosts", "file:///etc/hosts%00.png", "data:,x"] {
            #expect(refusal(try #require(URL(string: text))).says(.invalidRequest, "is not a file URL"))
        }
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
        for key in ["a", "b", "c"] { form.append(key, file: half) }
        #expect(throws: RequestError.self) { try form.data(JSONEncoder()) }
    }

    @Test(arguments: [0, 1, 1 << 18, 999_999, 1_000_001, 2_000_000])
    func `a file whose size changes while it is read is refused`(newSize: Int64) throws {
        let file = try directory.sparseFile("log", size: 1_000_000)
        var form = MultipartForm()
        form.append("f", file: file)
        var received = 0
        let error = expectThrown(.invalidRequest) {
            try form.forEachPiece(JSONEncoder()) { piece, _ in
                // The first pieces are the part's header and the beginning of the file.
                if received < 1000, piece.count > 1000 { try file.setSize(newSize) }
                received += piece.count
            }
        }
        let now = newSize < 1_000_000 ? "\(max(newSize, 1 << 18))" : "more"
        #expect(
            error?.reason == "part 'f': the file 'log' had 1000000 bytes, but now it has \(now); send a copy of it")
        #expect(received < 1_000_000 + 1000)
    }
}
