import Testing
import URLConfig

@testable import URLConfigTesting

struct RequestTests {
    @Test(.stubs { $0.any("/v2/*") })
    func `requests are kept as they were sent, with every kind of body`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
        try Data("film".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await send(request: { ($0.method, $0.body) = (.post, .json(user)) })
        try await send(request: { ($0.method, $0.body) = (.post, .form(["a": "1 2", "ä": "="])) })
        var form = MultipartForm()
        form.append("title", "Holi\r\nday")
        form.append("film", file: file)
        for source in [UploadSource.data(Data("data".utf8)), .file(file), .multipart(form)] {
            try await URLSession.shared.upload(source, for: .with(.api) { $0.method = .put })
        }
        var stream = URLRequest.with(.api) { $0.method = .post }
        stream.httpBodyStream = InputStream(data: Data("stream".utf8))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-App": "1"]
        try await URLSession(configuration: configuration).response(for: stream)

        let requests = HTTPStubs.requests
        #expect(try requests[0].decode(User.self) == user)
        #expect(requests[0].contentType == .json)
        #expect(requests[1].form == ["a": "1 2", "ä": "="])
        #expect([2, 3, 5].map { String(decoding: requests[$0].body, as: UTF8.self) } == ["data", "film", "stream"])
        #expect(try requests[5].headerFields[#require(.init("X-App"))] == "1")
        let parts = requests[4].parts
        #expect(parts.map(\.name) == ["title", "film"])
        #expect(parts.map(\.text) == ["Holi\r\nday", "film"])
        #expect(parts.last?.filename == file.lastPathComponent)
        #expect(parts.last?.contentType?.description.hasPrefix("text/plain") == true)
    }

    @Test(
        .stubs { $0.post("/v2") },
        arguments: ["C:\\temp\\a", "a\\\"b\\", "a;b=c; filename=d", "a\r\nb", "form-data", "\"\u{301}", "e\u{301}"])
    func `names of parts and files are as they were`(_ name: String) async throws {
        var form = MultipartForm()
        form.append(name, data: Data(), filename: name)
        try await URLSession.shared.upload(.multipart(form), for: .with(.api) { $0.method = .post })
        let part = try #require(HTTPStubs.requests[0].parts.first)
        #expect([part.name, part.filename ?? ""].map { Array($0.utf8) } == [name, name].map { Array($0.utf8) })
    }

    @Test(arguments: [true, false]) func `an upload without a byte reaches a server`(isRecorded: Bool) async throws {
        let folder = try ReplayFolder()
        let server = server { request in
            .init(
                headerFields: [.contentType: "text/plain"],
                body: .init(Data("\(try await request.body?.data().count ?? 0)".utf8)))
        }
        let sources = [UploadSource.sequence(AsyncStream<Data> { $0.finish() }), .data(Data())]
        for source in sources {
            try await HTTPStubs.with {
                if isRecorded {
                    $0.replay("api", mode: .recordAll, filePath: folder.test)
                } else {
                    $0.put("/v2", .network)
                }
            } operation: {
                let request = URLRequest.with(.api) { $0.method = .put }
                let response = try await URLSession.shared.upload(source, for: request) {
                    $0.logger = nil
                    server(&$0)
                }
                let text = try response.text()
                #expect(text == "0")
            }
        }
    }

    @Test(.stubs { $0.get("/v2/*") }) func `printed requests have no secrets`() async throws {
        try await send("/a?token=s3cret", request: { $0.authorization = .bearer("b3arer") })
        let request = try #require(HTTPStubs.requests.first)
        #expect(request.description == "GET https://api.example.com/v2/a?token=***")
        #expect(request.headerFields[.authorization] == "Bearer b3arer")
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("s3cret") && !dumped.contains("b3arer"))
    }

    @Test(arguments: ["", "--b", "--b\r\n\r\n--b", "--b\r\n\r\n\r\n--b--", "--b--b--b\r\n\r\n", "a\r\n\r\n--b\r\n"])
    func `a broken form has no parts that crash`(_ body: String) async throws {
        try await HTTPStubs.with {
            $0.any("/v2/*")
        } operation: {
            try await send(request: {
                ($0.method, $0.body) = (.post, .data(Data(body.utf8), contentType: "multipart/form-data; boundary=b"))
            })
            #expect(HTTPStubs.requests[0].parts.count <= 1)
        }
    }
}
