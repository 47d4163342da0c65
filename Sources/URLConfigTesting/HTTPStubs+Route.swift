import URLConfig

extension HTTPStubs {
    /// A route: which requests it matches, and how often.
    ///
    /// ```swift
    /// $0.post("/v2/orders", .status(.created))
    ///     .field(.authorization, "Bearer t0k")
    ///     .json(#"{"items": [{"id": 3}]}"#)
    ///     .times(1...2)
    /// ```
    public final class Route: Sendable {
        enum Content: Sendable {
            case responses([Response])
            case closure(@Sendable (Request) async throws -> Response)
            case recording(Recording)
        }

        /// Why a request does not match.
        struct Difference: Error {
            var route = ""
            let text: String
            /// The smaller, the nearer.
            let distance: Int
        }

        private struct State {
            /// Each returns what differs.
            var conditions: [@Sendable (Request) -> String?] = []
            /// How often the route must and may be used; `nil` for what follows from its responses.
            var times: ClosedRange<Int>?
            var used = 0
        }

        let place: Place
        /// The method and the template.
        let name: String
        private let method: HTTPRequest.Method?
        private let template: Result<URLTemplate, StubMistake>
        private let content: Content
        private let state = Locked(State())

        init(_ method: HTTPRequest.Method?, _ template: String, _ content: Content, at place: Place) {
            (self.method, self.content, self.place) = (method, content, place)
            name = "\(method?.rawValue ?? "any") \(template)"
            self.template = Result { () throws(StubMistake) in try URLTemplate(template) }
        }

        init(_ recording: Result<Recording, StubMistake>, _ name: String, at place: Place) {
            (method, self.place, self.name) = (nil, place, "replay of \(name)")
            // A recording itself knows which requests it has.
            template = recording.flatMap { _ in Result { () throws(StubMistake) in try URLTemplate("/*") } }
            content = (try? recording.get()).map { .recording($0) } ?? .responses([])
        }

        /// Only requests with these query items, among others.
        ///
        /// - Parameters:
        ///   - items: The decoded values by name; `nil` for requests without an item of that name.
        ///   - exactly: Whether other items, and several of one name, are not allowed.
        @discardableResult
        public func query(_ items: [String: String?], exactly: Bool = false) -> Self {
            when { request in
                let sent = request.query
                for (name, value) in items.sorted(by: { $0.key < $1.key }) {
                    let values = sent.filter { $0.name == name }.map { $0.value ?? "" }
                    if value.map({ !values.contains($0) }) ?? !values.isEmpty {
                        return "query \(request.shown(name, values.first)), expected \(request.shown(name, value))"
                    }
                }
                guard exactly else { return nil }
                if let other = sent.first(where: { items.index(forKey: $0.name) == nil }) {
                    return "query item \(other.name), which is not expected"
                }
                let again = items.keys.sorted().first { name in sent.count { $0.name == name } > 1 }
                return again.map { "query item \($0) more than once, which is not expected" }
            }
        }

        /// Only requests with this value of a header field; `nil` for requests without the field.
        @discardableResult
        public func field(_ name: HTTPField.Name, _ value: String?) -> Self {
            when { request in
                let sent = request.headerFields[name]
                if sent == value { return nil }
                return "field \(request.shown("\(name)", sent)), expected \(request.shown("\(name)", value))"
            }
        }

        /// Only requests with this value of a header field, such as `X-Tenant`; `nil` for requests without the field.
        @discardableResult
        public func field(_ name: String, _ value: String?) -> Self {
            guard let known = HTTPField.Name(name) else {
                return when { _ in "'\(name)' is not the name of a header field" }
            }
            return field(known, value)
        }

        /// Only requests whose body has at least these members of JSON.
        ///
        /// - Parameter text: JSON. Of objects, it may have some of the members; arrays are compared whole.
        @discardableResult
        public func json(_ text: String) -> Self {
            when { request in
                guard let expected = JSONTree(Data(text.utf8)) else { return "the expected JSON is malformed" }
                guard let sent = JSONTree(request.body) else { return "the body is not JSON" }
                let difference = sent.difference(from: expected) { request.redaction.hiding(body: $0, .json) }
                return difference.map { "body: " + request.hiding($0) }
            }
        }

        /// Only requests with these items of a form (`application/x-www-form-urlencoded`), among others.
        @discardableResult
        public func form(_ items: [String: String]) -> Self {
            when { request in
                let sent = request.form
                let wrong = items.sorted { $0.key < $1.key }.first { sent[$0.key] != $0.value }
                return wrong.map { name, value in
                    "form \(request.shown(name, sent[name])), expected \(request.shown(name, value))"
                }
            }
        }

        /// Only requests that a function accepts.
        ///
        /// - Parameters:
        ///   - what: What is expected, for the message of a failure, such as `a signed request`.
        ///   - accepts: Whether the request is meant.
        @discardableResult
        public func matching(_ what: String, _ accepts: @escaping @Sendable (Request) -> Bool) -> Self {
            when { accepts($0) ? nil : "it is not \(what)" }
        }

        /// How often the route must and may be used: `.times(2)`, `.times(1...3)`, `.times(2...)`.
        @discardableResult
        public func times(_ range: some RangeExpression<Int>) -> Self {
            let times: ClosedRange<Int>
            switch range {
            // As a `Range`, they would have to end after the largest number.
            case let range as ClosedRange<Int>: times = range
            case let range as PartialRangeThrough<Int>: times = 0...max(0, range.upperBound)
            default:
                let range = range.relative(to: 0..<Int.max)
                times = range.lowerBound...max(range.lowerBound, range.upperBound - 1)
            }
            state.set(\.times, times)
            return self
        }

        /// How often the route must be used, and no more often.
        @discardableResult
        public func times(_ count: Int) -> Self { times(max(0, count)...max(0, count)) }

        /// The route need not be used.
        @discardableResult
        public func optional() -> Self {
            let most = allowed.upperBound
            state.set(\.times, 0...most)
            return self
        }

        private func when(_ condition: @escaping @Sendable (Request) -> String?) -> Self {
            state.withLock { $0.conditions.append(condition) }
            return self
        }
    }
}

extension HTTPStubs.Route {
    /// The mistake in the route; `nil` if there is none.
    var mistake: String? {
        guard case .failure(let mistake) = template else { return nil }
        return "\(place.description): \(name): \(mistake.text)"
    }
    var recording: Recording? {
        if case .recording(let recording) = content { recording } else { nil }
    }
    /// Whether it is known to send requests to their servers.
    var asksServers: Bool {
        switch content {
        case .responses(let list): list.contains(where: \.isOfServer)
        case .closure: false
        case .recording(let recording): recording.records
        }
    }
    /// Whether it has no conditions but its template.
    var isUnconditional: Bool { state.withLock { $0.conditions.isEmpty } && recording == nil }
    /// Whether it is never used up.
    var isEndless: Bool { allowed.upperBound >= Int.max - 1 }

    /// How often it must and may be used.
    private var allowed: ClosedRange<Int> {
        if let times = state.withLock({ $0.times }) { return times }
        switch content {
        case .responses(let list) where list.count > 1: return list.count...list.count
        case .responses, .closure: return 1...Int.max
        case .recording: return 0...Int.max
        }
    }

    /// The text of an issue if the route was used too rarely; otherwise `nil`.
    var unused: String? {
        if let recording { return recording.isUsed ? nil : "\(name) was never used" }
        let (used, least) = (state.withLock { $0.used }, allowed.lowerBound)
        guard used < least else { return nil }
        return "\(name) " + (used == 0 ? "was never used" : "was used \(used) of \(least) times")
    }

    /// The responder of the route, if it matches and is not used up.
    func claim(_ request: HTTPStubs.Request) -> Result<StubResponder, Difference> {
        var (differences, distance, request) = ([String](), 0, request)
        if let method, method != request.method {
            differences.append("method \(request.method.rawValue), expected \(method.rawValue)")
        }
        switch template {
        case .failure(let mistake): differences.append(mistake.text)
        case .success(let template):
            let match = template.match(request)
            (request.values, request.mistakes, distance) = (match.values, Locked([]), match.distance)
            differences += match.differences
        }
        // The message of a caller's closure about another URL would only confuse.
        if differences.isEmpty { differences = state.withLock { $0.conditions }.compactMap { $0(request) } }
        let mistake = request.mistakes.withLock(\.first)
        guard differences.isEmpty || mistake != nil else {
            let text = differences.joined(separator: "; ")
            return .failure(Difference(text: text, distance: differences.count * 1000 + distance))
        }
        let most = allowed.upperBound
        let number = state.withLock { state -> Int? in
            guard state.used < most else { return nil }
            state.used += 1
            return state.used
        }
        guard let number else {
            return .failure(Difference(text: "has sent \(most) of \(most) responses", distance: 0))
        }
        if let mistake { return .success { _, _, _ in throw StubMistake(mistake) } }
        switch content {
        case .responses(let list): return .success(list[min(number, list.count) - 1].sent)
        case .recording(let recording):
            return recording.claim(request).mapError { Difference(text: $0.text, distance: 0) }
        case .closure(let respond):
            return .success { [request] sending, original, encoder in
                let response: HTTPStubs.Response
                // The mistake may be its cause.
                do { response = try await respond(request) } catch { response = .error(error) }
                if let mistake = request.mistakes.withLock(\.first) { throw StubMistake(mistake) }
                return try await response.sent(to: sending, original, encoder)
            }
        }
    }
}

/// Something that a test has written and that cannot be used.
struct StubMistake: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
