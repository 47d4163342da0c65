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
func server(_ respond: @escaping @Sendable (Transport.Request) async throws -> Transport.Response)
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

    @Test func `what another route has is not sent to a server while others are recorded`() async throws {
        let (folder, paths) = (try ReplayFolder(), Locked<[String]>([]))
        let server = server { request in
            paths.withLock { $0.append(request.urlRequest.url?.path() ?? "") }
            return .init(body: .init(Data("real".utf8)))
        }
        for mode in [HTTPStubs.ReplayMode.recordAll, .recordMissing, .replay] {
            try await HTTPStubs.with {
                $0.get("/v2/outer", .text("stub"))
            } operation: {
                try await HTTPStubs.with {
                    $0.replay("api", mode: mode, filePath: folder.test)
                    $0.get("/v2/inner", .text("stub"))
                } operation: {
                    for (path, expected) in [("/n", "real"), ("/inner", "stub"), ("/outer", "stub")] {
                        let text = try await send(path, server).text()
                        #expect(text == expected)
                    }
                }
            }
        }
        #expect(paths.withLock { $0 } == ["/v2/n"])
    }

    @Test func `calls that are recorded take real time`() async throws {
        let folder = try ReplayFolder()
        let server = server { _ in
            try await Task.sleep(for: .seconds(60))
            return .init()
        }
        try await folder.run(.recordAll) {
            // On a busy machine, the deadline passes before the recording is asked: this one uses it.
            try await send("/n", counting)
            await #expect(throws: RequestError.self) {
                try await send("/n") {
                    server(&$0)
                    $0.deadline = .milliseconds(50)
                }
            }
        }
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

    @Test func `what another process writes at the same time is kept`() async throws {
        let (folder, isOver) = (try ReplayFolder(), DispatchSemaphore(value: 0))
        try await folder.run(.recordMissing) { try await send("/first", counting) }
        let (isLocked, har) = (OneShot<Void>(), folder.har)
        Thread {
            let lock = open(har.deletingLastPathComponent().path, O_RDONLY)
            flock(lock, LOCK_EX)
            let text = try? String(contentsOf: har, encoding: .utf8)
            isLocked.resolve(.success(()))
            isOver.wait()
            // Time for a mistake: without the lock, the test writes now, and then this replaces its file.
            Thread.sleep(forTimeInterval: 0.2)
            try? text?.replacing("/v2/first", with: "/v2/other").write(to: har, atomically: true, encoding: .utf8)
            close(lock)
        }.start()
        try await isLocked.value()
        try await folder.run(.recordMissing) {
            try await send("/second", counting)
            isOver.signal()
        }
        try await folder.run { for path in ["/other", "/second"] { try await send(path, offline) } }
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
                try await send("/binary", offline)
                try Data("other".utf8).write(to: file)
                let upload = URLRequest.with(.api) { ($0.method, $0.path) = (.put, "/upload") }
                _ = await #expect(throws: RequestError.self) {
                    try await URLSession.shared.upload(.file(file), for: upload)
                }
            }
        }
        #expect(text.contains("has no exchange with this method, URL and body"))
    }

    @Test func `a recording of which nothing is used is an issue`() async throws {
        let folder = try ReplayFolder()
        try await folder.run(.recordAll) { try await send("/n", counting) }
        for mode in [HTTPStubs.ReplayMode.replay, .recordMissing, .recordAll] {
            let (text, line) = try await issue { try await folder.run(mode, line: 7) {} }
            #expect(text == "replay of api was never used")
            #expect(line == 7)
        }
        // Another route has sent the response.
        let (text, _) = try await issue {
            _ = try await HTTPStubs.with {
                $0.replay("api", mode: .replay, filePath: folder.test)
                $0.get("/v2/other")
            } operation: {
                try await send("/other")
            }
        }
        #expect(text == "replay of api was never used")
        // A transfer that broke off was also recorded.
        let broken = server { _ in throw URLError(.timedOut) }
        try await folder.run(.recordMissing) { _ = try? await send("/m", broken) }
    }

    @Test func `a request that fits no exchange is told which there are`() async throws {
        let folder = try ReplayFolder()
        func post(_ path: String, _ body: [String: Int]) async throws {
            try await send(path, request: { ($0.method, $0.body) = (.post, .json(body)) }, counting)
        }
        try await folder.run(.recordAll) {
            for _ in 1...2 { try await send("/m?token=s3cret-f00", counting) }
            for number in 1...9 { try await send("/n/\(number)", counting) }
            try await post("/a", ["a": 1])
            try await post("/a", ["a": 2])
        }
        let (text, _) = try await issue {
            try await folder.run {
                try await send("/m?token=s3cret-f00", offline)
                try await post("/a", ["a": 1])
                _ = await #expect(throws: RequestError.self) { try await post("/a", ["a": 3]) }
            }
        }
        let lines = text.split(separator: "\n").map { $0.replacing(/\ \(.*\):/, with: "") }
        let host = "https://api.example.com/v2"
        #expect(
            lines == [
                "POST \(host)/a matches no route; the nearest:",
                "- route 1, replay of api has no exchange with this method, URL and body, but:",
                "  - POST \(host)/a with another body, used up",
                "  - POST \(host)/a with another body",
                "  - GET \(host)/m?token=***, used 1 of 2 times",
                "  - GET \(host)/n/1", "  - GET \(host)/n/2", "  and 7 others",
            ])
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
