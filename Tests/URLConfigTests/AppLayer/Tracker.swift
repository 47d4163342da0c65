import URLConfig

// An app layer as a new user would write it: a ticket tracker, whose JSON has snake_case names and ISO 8601 dates, and
// a billing service, whose JSON has camelCase names.

struct Environment: Sendable {
    let tracker: String
    let billing: String

    static let production = Self(tracker: "https://tracker.example.com/v1", billing: "https://billing.example.com")
    static let staging = Self(tracker: "https://staging.example.com/v1", billing: "https://billing.staging.example.com")
}

struct Ticket: Codable, Equatable, Sendable {
    var id: Int
    var title: String
    var assigneeName: String?
    var openedAt: Date
}

struct Filter: Encodable, Sendable {
    var assigneeName: String?
    var openedSince: Date?
    var perPage = 2
}

struct Invoice: Decodable, Equatable, Sendable {
    var invoiceNumber: String
    var total: Decimal
}

/// What the tracker says when it refuses something, with the status and the wait of the response.
struct TrackerError: ResponseError, Decodable {
    let errorMessage: String
    let invalidFields: [String]
    private(set) var status: HTTPResponse.Status?
    private(set) var retryAfter: Duration?

    private enum CodingKeys: CodingKey { case errorMessage, invalidFields }

    mutating func take(from response: DataResponse) {
        status = response.status
        retryAfter = response.retryAfter
    }
}

struct Tracker: Sendable {
    private let requests: URLRequest.Config
    private let calls: URLSession.Config
    private let authenticator: TokenAuthenticator

    init(_ environment: Environment, refreshToken: String, transport: Transport = .urlSession) {
        let requests = URLRequest.Config(host: environment.tracker) {
            $0.headers[.accept] = "application/json"
            $0.timeout = .seconds(300)
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            $0.encoder.dateEncodingStrategy = .iso8601
        }
        let publicCalls = URLSession.Config().with {
            $0.decoder = JSONDecoder.tracker
            $0.validators = [.orThrow(TrackerError.self)]
            $0.transport = transport
        }
        let authenticator = TokenAuthenticator(hosts: [environment.tracker]) {
            .init("first")
        } refresh: { _ in
            let request = URLRequest.with(requests) {
                $0.method = .post
                $0.path = "/token"
                $0.body = .form(["grant_type": "refresh_token", "refresh_token": refreshToken])
            }
            let grant: Grant = try await URLSession.shared.response(for: request, config: publicCalls).decode()
            return .init(grant.accessToken, expiry: Date(timeIntervalSinceNow: grant.expiresIn))
        }
        self.requests = requests
        self.authenticator = authenticator
        calls = publicCalls.with {
            $0.authenticator = authenticator
            $0.deadline = .seconds(300)
        }
    }

    private struct Grant: Decodable {
        let accessToken: String
        let expiresIn: TimeInterval
    }

    /// All tickets, page after page.
    func tickets(_ filter: Filter = Filter()) async throws -> [Ticket] {
        var tickets: [Ticket] = []
        var next: URLRequest? = .with(requests) {
            $0.path = "/tickets"
            $0.query.append(contentsOf: filter)
        }
        while let request = next {
            let response = try await send(request)
            tickets += try response.decode([Ticket].self)
            next = response.links["next"].map { link in .with(requests) { $0.url = link.target } }
        }
        return tickets
    }

    func ticket(_ id: Int) async throws -> Ticket? {
        let request = URLRequest.with(requests) { $0.path = "/tickets/\(id)" }
        let response = try await URLSession.shared.response(for: request, config: calls) { $0.validators = [] }
        return response.status == .notFound ? nil : try response.decode(orThrow: TrackerError.self)
    }

    func open(_ title: String, labels: [String], dueOn: Date) async throws -> Ticket {
        let request = URLRequest.with(requests) {
            $0.method = .post
            $0.path = "/tickets"
            $0.idempotencyKey = .automatic
            $0.body["title"] = title
            $0.body["labels"] = labels
            $0.body["due_on"] = dueOn
        }
        return try await send(request).decode()
    }

    /// Changes what is given: `nil` leaves the assignee as it is, an empty name removes it.
    func change(_ id: Int, title: String? = nil, assignee: String? = nil) async throws -> Ticket {
        let request = URLRequest.with(requests) {
            $0.method = .patch
            $0.path = "/tickets/\(id)"
            $0.body["title"] = title
            $0.body["assignee_name"] = assignee
            if assignee?.isEmpty == true { $0.body["assignee_name"] = .null }
        }
        return try await send(request).decode()
    }

    func attach(_ screenshot: Data, to id: Int, note: String) async throws {
        var form = MultipartForm()
        form.append("note", note)
        form.append("size", screenshot.count)
        form.append(URLRequest.File(key: "file", name: "screen.png", data: screenshot, mimeType: .png))
        let request = URLRequest.with(requests) {
            $0.method = .post
            $0.path = "/tickets/\(id)/attachments"
            $0.body = .multipart(form)
        }
        try await send(request)
    }

    @discardableResult
    private func send(_ request: URLRequest) async throws -> DataResponse {
        try await URLSession.shared.response(for: request, config: calls)
    }
}

extension JSONDecoder {
    static let tracker = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()
}

struct Billing: Sendable {
    let environment: Environment

    func invoices() async throws -> [Invoice] {
        let request = URLRequest.with(.init(host: environment.billing)) { $0.path = "/invoices" }
        return try await URLSession.shared.response(for: request).validated().decode()
    }
}

@MainActor final class TicketList {
    private(set) var tickets: [Ticket] = []
    private(set) var notice: String?
    private let tracker: Tracker

    init(_ tracker: Tracker) { self.tracker = tracker }

    func load() async {
        do {
            tickets = try await tracker.tickets()
            notice = nil
        } catch {
            notice = Self.notice(for: error)
        }
    }

    static func notice(for error: any Error) -> String? {
        switch error {
        case is CancellationError: nil
        case let error as TrackerError where error.status == .tooManyRequests:
            "Please wait \(error.retryAfter.map { "\($0.components.seconds) s" } ?? "a moment")."
        case let error as TrackerError: error.errorMessage
        case let error as RequestError where error.code == .unauthorized: "Please sign in again."
        case is URLError: "There is no connection."
        default: "Something went wrong."
        }
    }
}
