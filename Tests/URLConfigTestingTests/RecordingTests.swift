import Testing
import URLConfig

@testable import URLConfigTesting

/// A folder for recordings, which is removed with this value.
final class ReplayFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "replays-\(UUID())")
    /// The file that a test beside this folder would have.
    var test: String { url.appending(path: "Tests.swift").path }
    var har: URL { url.appending(path: "__Replays__/api.har") }
    var text: String { (try? String(contentsOf: har, encoding: .utf8)) ?? "" }

    init(_ har: String? = nil) throws {
        try FileManager.default.createDirectory(
            at: url.appending(path: "__Replays__"), withIntermediateDirectories: true)
        if let har { try Data(har.utf8).write(to: self.har) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Runs calls whose requests go to the recording, and those that are recorded to a server.
    func run(
        _ mode: HTTPStubs.ReplayMode = .replay, line: UInt = #line, _ operation: () async throws -> Void
    ) async throws {
        try await HTTPStubs.with {
            $0.replay("api", mode: mode, filePath: test, line: line)
        } operation: {
            try await operation()
        }
    }
}

/// In place of a server: what it sends depends on what it receives.
private func server(_ respond: @escaping @Sendable (Transport.Request) async throws -> Transport.Response)
    -> @Sendable (inout URLSession.Config) -> Void
{
    { $0.transport = Transport(respond) }
}

struct RecordingTests {
    private let counting: @Sendable (inout URLSession.Config) -> Void = {
        let count = Locked(0)
        return server { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .init(headerFields: [.contentType: "text/plain"], body: .init(Data("\(number)".utf8)))
        }
    }()
    private let offline = server { _ in throw URLError(.notConnectedToInternet) }

    @Test func `a request that is repeated plays in order, and then says how often`() async throws {
        let folder = try ReplayFolder()
        try await folder.run(.recordAll) { for _ in 1...2 { try await send("/n", counting) } }
        let (text, _) = try await issue {
            try await folder.run {
                let texts = [try await send("/n", offline).text(), try await send("/n", offline).text()]
                #expect(texts == ["1", "2"])
                _ = await #expect(throws: RequestError.self) { try await send("/n", offline) }
            }
        }
        #expect(text.contains("replay of api"))
        #expect(text.contains("has sent 2 of 2 responses to this request"))
    }

    @Test func `recordings of two tests at once do not mix`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let folder = try ReplayFolder()
                    let server = server { _ in .init(body: .init(Data("\(number)".utf8))) }
                    try await folder.run(.recordAll) { try await send("/n", server) }
                    try await folder.run {
                        let text = try await send("/n") { $0.transport = .urlSession }.text()
                        #expect(text == "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `tests of one run add to one file`() async throws {
        let folder = try ReplayFolder("old")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await folder.run(.recordAll) { try await send("/n/\(number)", counting) } }
            }
            try await group.waitForAll()
        }
        try await folder.run { for number in 0..<20 { try await send("/n/\(number)", offline) } }
    }

    @Test func `a recording is the same each time, and keeps what it does not know`() async throws {
        let folder = try ReplayFolder()
        let dated = server { _ in
            .init(headerFields: [.date: "\(Date())", .init("X-B")!: "1", .init("x-a")!: "2", .contentEncoding: "gzip"])
        }
        try await folder.run(.recordAll) { try await send("/n", dated) }
        let first = folder.text
        let second = try ReplayFolder()
        try await second.run(.recordAll) { try await send("/n", dated) }
        #expect(second.text == first)
        #expect(first.contains("\n    \"entries\""))
        #expect(!first.contains("gzip"))
        try Data(first.replacing("\"cache\" : {", with: "\"_note\" : \"mine\", \"cache\" : {").utf8).write(
            to: folder.har)
        try await folder.run(.recordMissing) {
            try await send("/n", offline)
            try await send("/other", counting)
        }
        #expect(folder.text.contains("\"_note\" : \"mine\""))
        try await folder.run {
            let response = try await send("/n", offline)
            #expect(response.headerFields.map(\.name.rawName) == ["x-a", "X-B"])
            let text = try await send("/other", offline).text()
            #expect(text == "1")
        }
    }

    @Test func `binary bodies, large bodies, uploads and the pieces of a stream are as they were`() async throws {
        let folder = try ReplayFolder()
        let (binary, large) = (Data([0, 255, 128]), Data(repeating: 7, count: 3 << 20))
        let file = folder.url.appending(path: "film")
        let server = server { request in
            let pieces = AsyncStream<Data> { pieces in
                for piece in ["data: 1\n", "\ndata: 2\n\n", "data: 3\n\n"] { pieces.yield(Data(piece.utf8)) }
                pieces.finish()
            }
            switch request.urlRequest.url?.lastPathComponent {
            case "binary": return .init(body: .init(binary))
            case "large": return .init(headerFields: [.contentType: "image/png"], body: .init(large))
            case "stream": return .init(headerFields: [.contentType: "text/event-stream"], body: .init(pieces))
            default: return .init(body: .init(Data("\(try await request.body?.data().count ?? 0)".utf8)))
            }
        }
        func calls(_ configure: (inout URLSession.Config) -> Void) async throws {
            #expect(try await send("/binary", configure).data == binary)
            #expect(try await send("/large", configure).data == large)
            var pieces: [String] = []
            let stream = URLRequest.with(.api) { $0.path = "/stream" }
            for try await piece in try await URLSession.shared.stream(for: stream, configure).chunks {
                pieces.append(String(decoding: piece, as: UTF8.self))
            }
            #expect(pieces == ["data: 1\n", "\ndata: 2\n\n", "data: 3\n\n"])
            for size in [3, 5] {
                try Data(repeating: 1, count: size).write(to: file)
                let upload = URLRequest.with(.api) { ($0.method, $0.path) = (.put, "/upload") }
                let response = try await URLSession.shared.upload(.file(file), for: upload, configure)
                #expect(try response.text() == "\(size)")
            }
            var handMade = URLRequest.with(.api) { ($0.method, $0.path) = (.post, "/upload") }
            handMade.httpBodyStream = InputStream(data: Data("stream".utf8))
            #expect(try await URLSession.shared.response(for: handMade, configure).text() == "6")
        }
        try await folder.run(.recordAll) { try await calls(server) }
        #expect(folder.text.utf8.count < 1 << 16)
        #expect(folder.text.contains("\"encoding\" : \"base64\""))
        try await folder.run { try await calls(offline) }
        let (text, _) = try await issue {
            try await folder.run {
                try Data("other".utf8).write(to: file)
                let upload = URLRequest.with(.api) { ($0.method, $0.path) = (.put, "/upload") }
                _ = await #expect(throws: RequestError.self) {
                    try await URLSession.shared.upload(.file(file), for: upload)
                }
            }
        }
        #expect(text.contains("has no exchange with this method, URL and body"))
    }

    @Test func `a transfer that broke off is not recorded, and nothing is recorded in vain`() async throws {
        let folder = try ReplayFolder()
        let broken = server { _ in
            .init(body: .init(AsyncThrowingStream<Data, any Error> { $0.finish(throwing: URLError(.timedOut)) }))
        }
        try await folder.run(.recordAll) { _ = try? await send("/n", broken) }
        #expect(folder.text == "")
    }

    @Test(arguments: [
        ([:], "replay"), (["URLCONFIG_REPLAY": "recordAll"], "recordAll"),
        (["URLCONFIG_REPLAY": "replay", "CI": "1"], "replay"),
        (["URLCONFIG_REPLAY": "recordMissing", "CI": ""], "recordMissing"),
        (["URLCONFIG_REPLAY": "recordAll", "CI": "1"], "nothing is recorded where CI is set"),
        (["URLCONFIG_REPLAY": "all"], "URLCONFIG_REPLAY is 'all'"),
    ])
    func `the environment names the mode`(_ environment: [String: String], _ expected: String) {
        let mode = Result { () throws(StubMistake) in try HTTPStubs.ReplayMode.current(environment).rawValue }
        switch mode {
        case .success(let mode): #expect(mode == expected)
        case .failure(let mistake): #expect(mistake.text.contains(expected))
        }
    }
}

struct RecordingSecretsTests {
    private static let canary = "c4nary-7f3a9b2e51"
    /// A secret that no request has.
    private static let granted = "gr4nted-51b0c8d7aa"

    private func calls(_ secret: String, _ configure: (inout URLSession.Config) -> Void) async throws {
        let session = URLSession(configuration: .ephemeral)
        try await send("/url?token=\(secret)&page=2", configure)
        try await send(
            "/fields",
            request: {
                $0.authorization = .bearer(secret)
                $0.headers[.cookie] = "sid=\(secret); theme=dark"
            }, configure)
        try await send(
            "/form", request: { ($0.method, $0.body) = (.post, .form(["password": secret, "a": "1"])) }, configure)
        try await send(
            "/json", request: { ($0.method, $0.body) = (.post, .json(["password": secret, "a": "1"])) }, configure)
        var form = MultipartForm()
        form.append("password", secret)
        form.append("a", "1")
        try await send("/multipart", request: { ($0.method, $0.body) = (.post, .multipart(form)) }, configure)
        let response = try await send("/response", session: session, request: { _ in }, configure)
        #expect(response.cookies.map(\.name) == ["sid", "lang"])
        #expect(try response.decode([String: String].self).keys.sorted() == ["access_token", "name"])
        var events: [String] = []
        let request = URLRequest.with(.api) { ($0.path, $0.authorization) = ("/events", .bearer(secret)) }
        for try await event in try await URLSession.shared.stream(for: request, configure).events {
            events.append(event.id)
        }
        #expect(events == ["1", "2"])
        let lines = try await send("/lines", configure).text().split(separator: "\n")
        #expect(lines.count == 2)
    }

    @Test func `a file has no secret, and is played for requests that have the secret or another one`() async throws {
        let folder = try ReplayFolder()
        let (canary, granted) = (Self.canary, Self.granted)
        let server = server { request in
            switch request.urlRequest.url?.lastPathComponent {
            case "response":
                var fields: HTTPFields = [.contentType: "application/json"]
                fields[values: .setCookie] = ["sid=\(granted); Path=/", "lang=\(canary)"]
                return .init(
                    headerFields: fields, body: .init(Data(#"{"name": "Ada", "access_token": "\#(granted)"}"#.utf8)))
            case "events":
                let text = "id: 1\ndata: {\"token\": \"\(granted)\"}\n\nid: 2\ndata: you are \(canary)\n\n"
                let pieces = AsyncStream<Data> { pieces in
                    for start in stride(from: 0, to: text.utf8.count, by: 7) {
                        pieces.yield(Data(text.utf8.dropFirst(start).prefix(7)))
                    }
                    pieces.finish()
                }
                return .init(headerFields: [.contentType: "text/event-stream"], body: .init(pieces))
            case "lines":
                let text = "{\"token\": \"\(granted)\", \"n\": 1}\n{\"n\": 2, \"token\": \"\(granted)\"}\n"
                return .init(headerFields: [.contentType: "application/x-ndjson"], body: .init(Data(text.utf8)))
            default: return .init(status: .noContent)
            }
        }
        try await folder.run(.recordAll) { try await calls(canary, server) }
        #expect(!folder.text.contains("c4nary"))
        #expect(!folder.text.contains("gr4nted"))
        #expect(folder.text.contains("sid=***; Path=/"))
        #expect(folder.text.contains("page=2"))
        for secret in [canary, "an0ther-secret-5d1c"] {
            try await folder.run { try await calls(secret) { $0.transport = .urlSession } }
        }
    }

    @Test func `a file that would contain a secret is not written`() async throws {
        let folder = try ReplayFolder("old")
        let server = server { _ in .init(headerFields: [.init("X-\(Self.canary)")!: "1"]) }
        let error = await #expect(throws: RequestError.self) {
            try await folder.run(.recordAll) {
                try await send("/n", request: { $0.authorization = .bearer(Self.canary) }, server)
            }
        }
        #expect(error?.reason.contains("api.har is not written: GET https://api.example.com/v2/n: it would") == true)
        #expect(folder.text == "old")
    }
}
