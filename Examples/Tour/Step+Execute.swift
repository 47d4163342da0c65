import InMemoryLogging
import Logging
import URLConfig

extension Step {
    static let replacedCredential = Step("A refused token is replaced, and the request is sent again") { server in
        let authenticator = SessionAuthenticator(token: "stale-token", refreshToken: "good-refresh")
        let response = try await URLSession.shared.response(for: .with(.api) { $0.path = "/me" }) {
            $0.authenticator = authenticator
            $0.isUnauthorized = { $0.status == .forbidden }
        }

        let sent = await server.received.map(\.summary)
        tell("\(response.status.code): \(try response.text()), after\n\(sent.joined(separator: "\n"))")
        try expect("status", response.status, equals: .ok)
        try expect("body", response.text(), equals: #"{"name": "Ada"}"#)
        try expect(
            "sent", sent,
            equals: [
                "GET /v2/me Bearer stale-token",
                "POST /v2/token without credentials",
                "GET /v2/me Bearer fresh-token",
            ])
    }

    static let refusedCredential = Step("A token that is refused for good") { server in
        let authenticator = SessionAuthenticator(token: "stale-token", refreshToken: "bad-refresh")
        var refusal: RequestError?
        do {
            try await URLSession.shared.response(for: .with(.api) { $0.path = "/me" }) {
                $0.authenticator = authenticator
                $0.isUnauthorized = { $0.status == .forbidden }
            }
        } catch let error as RequestError where error.code == .unauthorized {
            refusal = error
        }

        if let refusal { tell("\(refusal)\nIts response: \(refusal.response?.bodyString ?? "none")") }
        try expect("code", refusal?.code, equals: .unauthorized)
        try expect("status", refusal?.response?.status, equals: .forbidden)
        try expect("body", refusal?.response?.text(), equals: #"{"message": "this token is not valid"}"#)
        try await expect(
            "sent", server.received.map(\.summary),
            equals: [
                "GET /v2/me Bearer stale-token",
                "POST /v2/token without credentials",
                "GET /v2/me Bearer worthless-token",
            ])
    }

    static let redactedLog = Step("A log without secrets") { server in
        let memory = InMemoryLogHandler()
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/token"
            $0.query["api_key"] = "s3cret-key"
            $0.body["refresh_token"] = "good-refresh"
        }
        try await URLSession.shared.response(for: request) {
            $0.logger = Logger(label: "tour") { _ in memory }
            $0.logger?.logLevel = .debug
        }

        let messages = memory.entries.map(\.message.description)
        tell(messages.joined(separator: "\n"))
        try expect("number of messages", messages.count, equals: 2)
        try expect(
            "log with its metadata", "\(memory.entries)",
            shows: ["🛫 request", "🛬 response", "api_key=***"], hides: ["s3cret-key", "good-refresh", "fresh-token"])
        try expect("request", messages[0], shows: [#""refresh_token" : "***""#], hides: [])
        try expect("response", messages[1], shows: [#""access_token" : "***""#], hides: [])
        let sent = await server.received.first
        try expect("sent", sent?.summary, equals: "POST /v2/token?api_key=s3cret-key without credentials")
        try expect("body", sent?.body ?? "", equals: #"{"refresh_token":"good-refresh"}"#)
    }
}
