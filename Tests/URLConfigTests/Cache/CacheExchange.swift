import Testing
import URLConfigTesting

@testable import URLConfig

/// What a caller asks, what the origin would say, and what the caller must receive.
///
/// In a field, `{10}` is the date in ten seconds. The origin adds `Date`, unless it is given; `Date: -` for none.
struct CacheExchange: Sendable {
    enum Outcome: Sendable {
        /// The last response that a caller received for this URL, without asking the origin.
        case hit
        /// A response of the origin that was stored before, counted from 1, without asking the origin.
        case stored(Int)
        /// The origin's new response; the origin is asked with the caller's fields and no condition.
        case miss
        /// The last response; the origin is asked with this field, or with a field of this name, and says 304.
        case validated(String)
        /// The origin's new response, although it was asked with this field, or with a field of this name.
        case replaced(String)
        /// The origin's new response; the origin has first said 304 about another one.
        case refetched
        /// The last response, although the origin was asked.
        case stale
        /// A 504 that no server sent.
        case generated504
        /// An error of Foundation, and whether the origin was asked.
        case error(URLError.Code, asked: Bool)
    }

    let outcome: Outcome
    let fields: [String]
    /// 0: the connection is lost.
    let status: Int
    let after: Int
    let method: String
    let url: String
    let requestFields: [String]
    let policy: URLRequest.CachePolicy
    let staleIfError: Duration?
    let received: [String]

    /// - Parameters:
    ///   - fields: What the origin would say.
    ///   - after: The seconds since the previous exchange.
    ///   - with: The fields of the request.
    ///   - gives: The fields that the caller receives; with `!` those that it does not receive.
    static func ask(
        _ outcome: Outcome, _ fields: String..., status: Int = 200, after: Int = 0, method: String = "GET",
        url: String = "/", with requestFields: String..., policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        staleIfError: Duration? = nil, gives received: String...
    ) -> Self {
        Self(
            outcome: outcome, fields: fields, status: status, after: after, method: method, url: url,
            requestFields: requestFields, policy: policy, staleIfError: staleIfError, received: received)
    }
}

/// A name, and exchanges one after the other, with an empty cache at the beginning.
struct CacheRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let exchanges: [CacheExchange]

    init(_ name: String, _ exchanges: CacheExchange...) { (testDescription, self.exchanges) = (name, exchanges) }

    /// Expects what the exchanges say.
    func run(_ cache: HTTPCache, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let (clock, session) = (TestClock(), URLSession(configuration: .ofTests))
        let asked = Recorder<URLRequest>()
        var last: [String: String] = [:]
        for (index, exchange) in exchanges.enumerated() {
            clock.move(by: .seconds(exchange.after))
            let url = exchange.url.hasPrefix("/") ? "https://api.test\(exchange.url)" : exchange.url
            var request = URLRequest(url: try #require(URL(string: url)), cachePolicy: exchange.policy)
            request.httpMethod = exchange.method
            for (name, value) in exchange.requestFields.map({ Self.field($0, clock.date) }) {
                request.addValue(value, forHTTPHeaderField: name)
            }
            let before = asked.count
            var result: Result<DataResponse, any Error>
            do {
                result = .success(
                    try await session.response(for: request, config: .silent) {
                        ($0.cache, $0.clock, $0.redirects) = (cache, clock, .none)
                        if let limit = exchange.staleIfError { $0.cache?.staleIfError = limit }
                        $0.transport = Transport { try exchange.response(to: $0.urlRequest, asked, clock.date) }
                    })
            } catch {
                result = .failure(error)
            }
            await cache.finishRevalidations()
            let requests = Array(asked.entries.dropFirst(before))
            let seen = Seen(requests: requests, count: asked.count, last: last[url] ?? "", result: result)
            let wrong = exchange.failure(seen, request, clock.date)
            #expect(wrong == nil, "exchange \(index + 1)", sourceLocation: sourceLocation)
            guard wrong == nil else { return }
            if exchange.method == "GET", case .success(let response) = result, response.status != .notModified {
                last[url] = response.text
            }
        }
    }

    /// The name and the value of a field.
    static func field(_ text: String, _ now: Date) -> (name: String, value: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        let value = parts.count > 1 ? parts[1] : ""
        guard value.hasPrefix("{"), let seconds = Double(value.dropFirst().dropLast()) else { return (parts[0], value) }
        return (parts[0], now.addingTimeInterval(seconds).httpDate ?? "")
    }
}

/// What happened in an exchange.
private struct Seen {
    let requests: [URLRequest]
    let count: Int
    let last: String
    let result: Result<DataResponse, any Error>
    var response: DataResponse? { try? result.get() }
    /// The body of the origin's newest response.
    var new: String { "response \(count)" }
}

extension DataResponse {
    fileprivate var text: String { String(decoding: data, as: UTF8.self) }
}

extension CacheExchange {
    private static let conditions = ["If-None-Match", "If-Modified-Since"]

    /// The origin: the body says how many requests it has seen.
    fileprivate func response(
        to request: URLRequest, _ asked: Recorder<URLRequest>, _ now: Date
    ) throws -> Transport.Response {
        let count = asked.note(request)
        if status == 0 { throw URLError(.networkConnectionLost) }
        var response = Transport.Response(status: .init(code: status))
        switch outcome {
        case .validated: response.status = .notModified
        case .refetched where Self.conditions.contains { request.field($0) != nil }: response.status = .notModified
        default: break
        }
        for (name, value) in (["Date: {0}"] + fields).map({ CacheRow.field($0, now) }) {
            guard let name = HTTPField.Name(name) else { continue }
            if name == .date { response.headerFields[.date] = nil }
            if value != "-" { response.headerFields.append(HTTPField(name: name, value: value)) }
        }
        let isEmpty = request.httpMethod == "HEAD" || [204, 304].contains(response.status.code)
        if !isEmpty { response.body = .init(Data("response \(count)".utf8)) }
        return response
    }

    /// What is not as expected; `nil` for nothing.
    fileprivate func failure(_ seen: Seen, _ request: URLRequest, _ now: Date) -> String? {
        let sent = seen.requests.first
        let (text, code) = (seen.response?.text, seen.response?.status.code)
        let found = "asked \(seen.requests.count) times, \(code ?? 0) '\(text ?? "\(seen.result)")'"
        let isEmpty = method == "HEAD" || [204, 304].contains(code)
        func isText(_ expected: String) -> Bool { isEmpty ? text == "" : text == expected }
        func isSent(_ field: String) -> Bool {
            let (name, value) = CacheRow.field(field, now)
            return sent?.field(name).map { value.isEmpty || $0 == value } ?? false
        }
        let added = Self.conditions.filter { sent?.field($0) != request.field($0) }
        let isRight =
            switch outcome {
            case .hit: seen.requests.isEmpty && isText(seen.last) && seen.response?.fromCache == true
            case .stored(let number):
                seen.requests.isEmpty && isText("response \(number)") && seen.response?.fromCache == true
            case .miss:
                seen.requests.count == 1 && code == status && isText(seen.new) && added.isEmpty
                    && seen.response?.fromCache == false
            case .validated(let field):
                seen.requests.count == 1 && isSent(field) && isText(seen.last) && code != 304
                    && seen.response?.fromCache == true
            case .replaced(let field): seen.requests.count == 1 && isSent(field) && isText(seen.new) && code == status
            case .refetched: seen.requests.count == 2 && isText(seen.new)
            case .stale: seen.requests.count == 1 && isText(seen.last) && seen.response?.fromCache == true
            case .generated504: seen.requests.isEmpty && code == 504
            case .error(let code, let asked): seen.requests.isEmpty != asked && seen.error == code
            }
        guard isRight else { return "\(outcome): \(found), sent \(sent?.allHTTPHeaderFields ?? [:])" }
        return received.first { !isReceived($0, seen, now) }.map { "\($0): \(seen.response?.headerFields ?? [:])" }
    }

    private func isReceived(_ field: String, _ seen: Seen, _ now: Date) -> Bool {
        let (name, value) = CacheRow.field(field, now)
        let found = HTTPField.Name(name.hasPrefix("!") ? String(name.dropFirst()) : name)
            .flatMap { seen.response?.headerFields[$0] }
        return name.hasPrefix("!") ? found == nil : found == value
    }
}

extension Seen {
    var error: URLError.Code? {
        if case .failure(let error) = result { (error as? URLError)?.code } else { nil }
    }
}
