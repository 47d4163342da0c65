import URLConfig

extension Step {
    static let refresh = Step("A hundred requests, one refresh") { server in
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
            .init("stale-token")
        } refresh: { _ in
            .init(try await Grant.refreshed("good-refresh").accessToken)
        }
        let responses = try await (0..<100).concurrentMap { _ in
            try await URLSession.shared.response(for: .with(.api) { $0.path = "/me" }) {
                $0.authenticator = authenticator
                $0.isUnauthorized = { $0.status == .forbidden }
            }
        }

        let statuses = Set(responses.map(\.status))
        let refreshes = await server.received.count { $0.target == "/v2/token" }
        let sent = await server.received.count
        tell("\(responses.count) responses, all with status 200, and \(refreshes) refresh")
        try expect("statuses", statuses, equals: [200])
        try expect("refreshes", refreshes, equals: 1)
        try expect("no request is sent more than twice", sent <= 201, equals: true)
    }

    static let retry = Step("A busy service gets the request again, and there is one order") { server in
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/orders"
            $0.idempotencyKey = .automatic
            $0.body["article"] = 3
        }
        let response = try await URLSession.shared.response(for: request) { $0.retry = .standard }

        tell(response.attempts.map(\.description).joined(separator: "\n"))
        let sent = await server.received
        try expect("statuses", response.attempts.map(\.status), equals: [503, 503, 201])
        try expect("different keys", Set(sent.map { $0.fields["idempotency-key"] }).count, equals: 1)
        try expect("different bodies", Set(sent.map(\.body)), equals: [#"{"article":3}"#])
        try expect(
            "why", response.attempts.first?.reason ?? "", shows: ["waiting 1.0 s: Retry-After"], hides: [])
    }

    static let redirect = Step("A redirect to another origin has no credentials") { server in
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/moved"
            $0.authorization = .bearer("s3cret-token")
            $0.body["title"] = "some-title"
        }
        let response = try await URLSession.shared.response(for: request)

        let sent = await server.received
        tell("\(response.status.code), after\n\(sent.map(\.summary).joined(separator: "\n"))")
        try expect(
            "sent", sent.map(\.summary),
            equals: ["POST /v2/moved Bearer s3cret-token", "POST /v2/articles without credentials"])
        try expect("bodies", Set(sent.map(\.body)), equals: [#"{"title":"some-title"}"#])
        try expect("host", response.url?.host(), equals: "localhost")
    }

    static let deadline = Step("A deadline for the whole call") { server in
        var failure: RequestError?
        do {
            try await URLSession.shared.response(for: .with(.api) { $0.path = "/slow" }) {
                $0.deadline = .milliseconds(200)
                $0.retry = .standard
            }
        } catch let error as RequestError where error.code == .deadlineExceeded {
            failure = error
        }

        if let failure { tell("\(failure)") }
        try expect("code", failure?.code, equals: .deadlineExceeded)
        try expect("attempts", failure?.attempts.count, equals: 1)
    }
}

extension Step {
    static let cache = Step("A cache, and one transfer for calls at the same time") { server in
        let cached = URLSession.Config.api.with {
            $0.cache = .memory(megabytes: 10)
            $0.coalesces = true
        }
        let request = URLRequest.with(.api) { $0.path = "/news" }
        async let first = URLSession.shared.response(for: request, config: cached)
        async let second = URLSession.shared.response(for: request, config: cached)
        let together = try await [first, second]
        let third = try await URLSession.shared.response(for: request, config: cached)

        let sent = await server.received.count
        let statuses = (together + [third]).map { $0.cacheStatus?.description ?? "none" }
        tell("\(sent) request for three responses: \(statuses.sorted().joined(separator: " | "))")
        try expect("requests", sent, equals: 1)
        try expect("from the cache", third.fromCache, equals: true)
        try expect("contents", Set((together + [third]).map(\.data)).count, equals: 1)
    }
}

extension Range<Int> {
    /// Calls a function for all numbers at the same time.
    fileprivate func concurrentMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for number in self { group.addTask { try await transform(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
