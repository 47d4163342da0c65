import Testing
import URLConfig
import URLConfigTesting

/// The stubs of a test, for what a call makes of responses, however they arrive.
///
/// The routes have the form of the trait `.stubs` and of `HTTPStubs.with`.
let stubs = Stubs()

struct Stubs: TestServer {
    var host = "https://api.test"
    let session = URLSession.shared

    /// The response to one GET, whatever its path is.
    @discardableResult
    func get(
        _ response: HTTPStubs.Response, isolation: isolated (any Actor)? = #isolation,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await HTTPStubs.with({ $0.get("/*", response).optional() }, operation: { try await get(nil, configure) })
    }
}

extension HTTPStubs {
    /// The values of a field of all requests.
    static func fields(_ name: String) -> [String?] { requests.map { $0.urlRequest.field(name) } }

    /// The bodies of all requests as text.
    static var bodies: [String] { requests.map { String(decoding: $0.body, as: UTF8.self) } }
}

extension TestClock {
    /// Waits for this number of sleepers; otherwise the test fails.
    func waitForSleepers(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await waitUntil("sleeper \(count)", sourceLocation: sourceLocation) { sleepers >= count }
    }
}
