import InMemoryLogging
import Logging
import Testing
import URLConfig

/// Every kind of error that a call throws, on one line.
@Suite(.inTime) struct ErrorRequestSummaryTests {
    private static let secret = "c4naryS3cret"

    private enum Blocked: Error { case byProxy }
    private struct Told: LocalizedError { var errorDescription: String? { "refused\nfor \(secret)" } }

    /// The words of an error, and what causes it.
    struct Case: Sendable, CustomTestStringConvertible {
        let words: String
        let request: @Sendable (inout URLRequest.Config) -> Void
        var testDescription: String { words }
        let configure: @Sendable (inout URLSession.Config) -> Void

        init(
            _ words: String, _ configure: @escaping @Sendable (inout URLSession.Config) -> Void = { _ in },
            request: @escaping @Sendable (inout URLRequest.Config) -> Void = { _ in }
        ) {
            (self.words, self.request, self.configure) = (words, request, configure)
        }

        /// The transport throws this error.
        init(_ words: String, _ error: any Error, attempts: Int = 1) {
            self.init(words) {
                $0.transport = Transport { _ in throw error }
                $0.retry = RetryPolicy(attempts: attempts)
                ($0.retry.firstDelay, $0.retry.isBudgeted) = (.zero, false)
            }
        }

        /// A validator throws an error for this response.
        init(
            _ words: String, _ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:],
            _ validators: ResponseValidator...
        ) {
            self.init(words) {
                $0.transport = Transport { _ in
                    .init(status: status, headerFields: fields, body: .init(Data(text.utf8)))
                }
                $0.validators = validators
                $0.retry = .standard
            }
        }
    }

    /// It has no token in time.
    private static let silent = TokenAuthenticator(
        hosts: ["https://api.example.com"], renewalLimit: .milliseconds(1),
        load: {
            try await Task.sleep(for: .seconds(60))
            return nil
        }, refresh: { _ in nil })
    private static let json: HTTPFields = [.contentType: "application/json"]
    private static let cases = [
        Case(": ", URLError(.timedOut)), Case("(URLError -1001)", URLError(.timedOut)),
        Case("(URLError -1001); 3 attempts", URLError(.timedOut), attempts: 3),
        Case("(URLError -1005)", URLError(.networkConnectionLost)), Case("(URLError -1003)", URLError(.cannotFindHost)),
        Case(": the task was cancelled", CancellationError()),
        Case(": the response is not HTTP", RequestError(.invalidResponse, reason: "the response is not HTTP")),
        Case(
            " (200): cannot read Array<Int> from 24 B of", .ok, #"{"token":"\#(secret)"}"#, json,
            .init { _ = try $0.decode([Int].self) }),
        Case(
            ": the top level is an object, expected an array", .ok, #"{"token":"\#(secret)"}"#, json,
            .init { _ = try JSONDecoder().decode([Int].self, from: $0.data) }),
        Case(
            " (404): the status is not accepted; the content says “no ***”", .notFound, "no \(secret)",
            [:], .success),
        Case(
            "Retry-After is 99.0 s; not retried: Retry-After, 99.0 s, is longer than longestRetryAfter, 60.0 s",
            .serviceUnavailable, "", [.retryAfter: "99"], .success),
        Case(
            " (200): content type is text/plain, expected text/html", .ok, "", [.contentType: "text/plain"],
            .contentType(.html)),
        Case(": 402 Pay: soon", .init(code: 402), #"{"title":"Pay","detail":"soon"}"#, json, .orThrow(Problem.self)),
        Case(" (302): the redirect is not followed", .found, "", [.location: "ftp://a.example/\(secret)"]),
        Case(": Blocked.byProxy", .ok, "", [:], .init { _ in throw Blocked.byProxy }),
        Case(#": refused\nfor ***"#, .ok, "", [:], .init { _ in throw Told() }),
        Case(" (401): the server refused the credentials") {
            $0.transport = Transport { _ in .init(status: .unauthorized) }
            $0.onUnauthorized = { _ in }
        },
        Case(" (200): the body is longer than responseLimit") {
            $0.transport = Transport { _ in .init(body: .init(Data(secret.utf8))) }
            $0.responseLimit = 2
        },
        Case(": the deadline, 0 ms, passed before anything was sent") { $0.deadline = .zero },
        Case(
            ": the authenticator of", { $0.authenticator = silent }, request: { $0.authorization = nil }),
        Case(": body: GET cannot have one", request: { ($0.method, $0.body) = (.get, .text(secret)) }),
        Case(": path '/..' contains the segment '..'", request: { $0.path = "/.." }),
    ]

    private func thrown(_ wanted: Case, _ logger: Logger? = nil) async throws -> (error: any Error, URLRequest) {
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            ($0.method, $0.path, $0.query["token"]) = (.put, "/users", Self.secret)
            $0.authorization = .bearer(Self.secret)
            wanted.request(&$0)
        }
        let error = await #expect(throws: (any Error).self) {
            try await URLSession.shared.response(for: request) {
                $0.logger = logger
                wanted.configure(&$0)
            }
        }
        return (try #require(error), request)
    }

    @Test(arguments: cases)
    func `every error is one line with the method, and without secrets`(wanted: Case) async throws {
        let (error, request) = try await thrown(wanted)
        let line = error.requestSummary(for: request)
        #expect(line.contains(wanted.words), "\(line)")
        let isSendable = request.url?.host() != nil
        let target = isSendable ? "https://api.example.com/users?token=***" : "<cannot be sent>"
        #expect(line.hasPrefix("\(request.httpMethod ?? "") \(target)"), "\(line)")
        #expect(!line.contains("\n") && !line.contains(Self.secret), "\(line)")
        // Errors of the library and of the transport know their request.
        if error is RequestError || error is URLError { #expect(error.requestSummary() == line) }
    }

    @Test func `the log has the same words, and an error of Foundation has its URL`() async throws {
        let (logger, log) = Logger.recording()
        let (error, _) = try await thrown(Case("", URLError(.timedOut), attempts: 2), logger)
        let logged = try #require(log.entries.last?.metadata["error"]?.description)
        #expect(error.requestSummary() == "PUT https://api.example.com/users?token=***: " + logged)
        #expect(logged.hasSuffix("; 2 attempts"))
        let url = try #require(URL(string: "https://api.example.com?token=\(Self.secret)"))
        let other = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        #expect(other.requestSummary().hasPrefix("https://api.example.com?token=***: "))
    }

    @Test func `names that the preset of the host hides are hidden`() async throws {
        let request = URLRequest.with(.init(host: "https://presets.example")) { $0.query["birthday"] = "1815-12-10" }
        await URLSession.Config.withHosts([
            "presets.example": .silent.with { $0.redaction = .standard.adding("birthday") }
        ]) {
            let summaries = [
                CancellationError().requestSummary(for: request),
                RequestError(.unauthorized, reason: "no token for 1815-12-10").requestSummary(for: request),
            ]
            for summary in summaries { #expect(!summary.contains("1815-12-10"), "\(summary)") }
        }
    }
}
