import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Requests with the readers of their responses.
@Suite(
    .inTime,
    .silentByDefault,
    .stubs {
        $0.get("/users/1", .json(#"{"name":"Rex"}"#)).optional()
        $0.get("/empty", .status(.noContent)).optional()
        $0.get("/*", .text("nothing here", status: .notFound)).optional()
    }) struct TypedRequestTests
{
    fileprivate struct User: Codable, Equatable, Sendable { var name: String }

    private struct APIError: Decodable, Error, Equatable { var message: String }

    private struct Failure: Error {}

    private static let rex = User(name: "Rex")
    private static let json = #"{"name":"Rex"}"#
    private static let refusal = #"{"message":"no such user"}"#

    private func response(_ status: Status, _ text: String = json) -> DataResponse {
        DataResponseTests.response(text.utf8, contentType: "application/json", status: status)
    }

    // Readers.

    @Test func `an optional is nil without content`() throws {
        for status in [Status.noContent, .resetContent] {
            #expect(try TypedRequest<User?>.with(.api) { _ in }.reader.read(response(status, "")) == nil)
            #expect(try ResponseReader<String?>.automatic.read(response(status, "")) == nil)
            #expect(try ResponseReader<Data?>.automatic.read(response(status, "")) == nil)
        }
        #expect(try ResponseReader<String?>.automatic.read(response(.ok, "")) == "")
    }

    private static let readers: [(String, @Sendable (DataResponse) throws -> Bool)] = [
        ("automatic", { try TypedRequest<User>.with(.api) { _ in }.reader.read($0) == rex }),
        ("automatic optional", { try TypedRequest<User?>.with(.api) { _ in }.reader.read($0) == rex }),
        ("automatic text", { try ResponseReader<String>.automatic.read($0) == json }),
        ("automatic optional text", { try ResponseReader<String?>.automatic.read($0) == json }),
        ("automatic data", { try ResponseReader<Data>.automatic.read($0) == $0.data }),
        ("automatic optional data", { try ResponseReader<Data?>.automatic.read($0) == $0.data }),
        ("json", { try ResponseReader<User>.json.read($0) == rex }),
        ("text", { try ResponseReader.text.read($0) == json }),
        ("text in an encoding", { try ResponseReader.text(encoding: .ascii).read($0) == json }),
        ("data", { try ResponseReader.data.read($0) == $0.data }),
        ("nothing", { try TypedRequest<Void>.with(.api) { _ in }.reader.read($0) == () }),
        ("an own one", { try ResponseReader { $0.headerFields[.eTag] }.read($0) == nil }),
        ("mapped", { try ResponseReader<User>.json.map(\.name).read($0) == "Rex" }),
        ("or", { try ResponseReader<User>.json.or(User(name: ""), for: .noContent).read($0) == rex }),
    ]

    @Test(arguments: readers.indices)
    func `only 2xx is read`(index: Int) throws {
        let (name, read) = Self.readers[index]
        for status in [Status.ok, .created, 299] {
            #expect(try read(response(status)), "\(name)")
        }
        for status in [Status.switchingProtocols, .notModified, .notFound, .internalServerError, 999] {
            let error = expectThrown(.unacceptableStatus, "\(name)") { _ = try read(response(status)) }
            #expect(error?.response?.status == status && error?.response?.data.isEmpty == false)
        }
    }

    @Test func `a reader says which statuses it accepts, and a status may stand for a value`() throws {
        let exists = ResponseReader(status: [200, 404]) { $0.status == .ok }
        #expect(try exists.read(response(.ok)))
        #expect(try !exists.read(response(.notFound)))
        expectThrown(.unacceptableStatus) { try exists.read(response(.created)) }
        let created = ResponseReader(status: [201]) { _ in }.orThrow(APIError.self)
        expectThrown(.unacceptableStatus) { try created.read(response(.ok)) }
        let reader = ResponseReader<User?>.json.or(nil, for: .notFound, .gone)
        #expect(try reader.read(response(.gone, "<html>")) == nil)
        #expect(throws: RequestError.self) { try reader.read(response(.forbidden)) }
    }

    @Test(arguments: [
        ResponseReader<User?>.json.orThrow(APIError.self).or(nil, for: .notFound),
        ResponseReader<User?>.json.or(nil, for: .notFound).orThrow(APIError.self),
    ])
    private func `a refused status throws the API's own error, unless the status stands for a value`(
        reader: ResponseReader<User?>
    ) throws {
        #expect(try reader.read(response(.ok)) == Self.rex)
        #expect(try reader.read(response(.notFound, Self.refusal)) == nil)
        #expect(throws: APIError(message: "no such user")) { try reader.read(response(.forbidden, Self.refusal)) }
        let undecoded = expectThrown(.unacceptableStatus) { try reader.read(response(.forbidden, "<html>")) }
        #expect(undecoded?.underlyingError is DecodingError)
        expectThrown(.decoding) { try reader.read(response(.ok, Self.refusal)) }
    }

    @Test func `text is in the character set of the response, or in one that is named`() throws {
        let latin = DataResponseTests.response([0x5A, 0x6F, 0xEB], contentType: "text/plain; charset=iso-8859-1")
        #expect(try ResponseReader.text.read(latin) == "Zo\u{EB}")
        let wrong = DataResponseTests.response([0x5A, 0x6F, 0xEB], contentType: "text/plain; charset=utf-8")
        #expect(try ResponseReader.text(encoding: .isoLatin1).read(wrong) == "Zo\u{EB}")
        let error = expectThrown(.decoding) { try wrong.text(encoding: .ascii) }
        #expect(error?.reason.contains("ASCII") == true, "\(error?.reason ?? "")")
        #expect(try ResponseReader<String>.json.read(response(.ok, #""Rex""#)) == "Rex")
    }

    // Requests.

    @Test func `the request is the one that URLRequest makes, and the errors of the closures are rethrown`() throws {
        let configure = { (config: inout URLRequest.Config) in
            (config.method, config.path) = (.put, "/users/\(7)")
            config.query["page"] = 2
        }
        let request = URLRequest.with(.api, configure)
        #expect(TypedRequest<User>.with(.api, configure).request == request)
        #expect(TypedRequest<Void>.with(.api, configure).request == request)
        #expect(TypedRequest(request, reader: .discard).request == request)
        #expect(TypedRequest<User>.with { $0.host = "https://h.example" }.request.urlText == "https://h.example")
        func failing() throws(Failure) -> TypedRequest<User> {
            try .with(.api) { (_: inout URLRequest.Config) throws(Failure) in throw Failure() }
        }
        #expect(throws: Failure.self) { try failing() }
        let mapped = ResponseReader<User>.json.map { _ -> Int in throw Failure() }
        #expect(throws: Failure.self) { try mapped.read(response(.ok)) }
        expectThrown(.unacceptableStatus) { try mapped.read(response(.notFound)) }
    }

    // Calls.

    @Test func `a value may be no model`() async throws {
        let name: (first: String, count: Int) = try await URLSession.shared.value(
            for: .with(.init(host: "https://api.test"), reader: ResponseReader<User>.json.map { ($0.name, 1) }) {
                $0.path = "/users/1"
            })
        #expect(name == ("Rex", 1))
    }

    @Test func `a static member is found, and an annotated result is enough`() async throws {
        let found = try await URLSession.shared.value(for: .user(1))
        #expect(found == Self.rex)
        let user: User = try await URLSession.shared.value(for: .with(.api) { $0.path = "/users/\(1)" })
        #expect(user == Self.rex)
        let nobody: User? = try await URLSession.shared.value(
            for: .with(.api, reader: .json.or(nil, for: .notFound)) { $0.path = "/users/2" })
        #expect(nobody == nil)
        try await URLSession.shared.value(for: .with(.api) { $0.path = "/empty" })
        let error = await expectError(.unacceptableStatus) { try await URLSession.shared.value(for: .user(2)) }
        #expect(error?.response?.data == Data("nothing here".utf8) && error?.attempts.count == 1)
        await expectError(.invalidURL) {
            try await URLSession.shared.value(for: TypedRequest<User>.with(.api) { $0.path = "/\("..")" })
        }
    }

    @Test func `preset and closure configure the call, and the log names the caller`() async throws {
        let (logger, log) = Logger.recording()
        let preset = URLSession.Config().with { $0.logger = logger }
        let line: UInt = #line + 1
        _ = try await URLSession.shared.value(for: .user(1), config: preset)
        #expect(log.text.contains("source=\(#fileID):\(line) "), "\(log.text)")
        let user = try await URLSession.shared.value(for: .user(2)) {
            $0.validators = [ResponseValidator { ($0.status, $0.data) = (.ok, Data(Self.json.utf8)) }]
        }
        #expect(user == Self.rex)
        await #expect(throws: RequestError.self, "no fallback is called after the reader") {
            try await URLSession.shared.value(for: .user(2)) {
                $0.fallback = { error, _ in throw error is RequestError ? Failure() : error }
            }
        }
    }

    @Test func `the response is not read on the caller's actor`() async throws {
        let reader = ResponseReader<Data>.data.map { _ in Thread.isMainThread }
        let request = TypedRequest(.with(.api) { $0.path = "/users/1" }, reader: reader)
        let call = Task { @MainActor in try await URLSession.shared.value(for: request) }
        let isOnMainThread = try await call.valueInTime
        #expect(!isOnMainThread)
    }
}

extension TypedRequest where Output == TypedRequestTests.User {
    fileprivate static func user(_ id: Int) -> Self { .with(.api) { $0.path = "/users/\(id)" } }
}

extension URLRequest.Config {
    fileprivate static let api = Self(host: "https://api.example.com")
}
