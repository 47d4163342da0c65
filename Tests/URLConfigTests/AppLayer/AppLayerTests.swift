import FlyingFox
import Testing
import URLConfig

/// The app layer of `Tracker.swift` against a server, and against stubs as its own unit tests would have it.
@Suite(.silentByDefault) struct AppLayerTests {
    private let ticket = #"{"id":7,"title":"Foxes","assignee_name":"Ada","opened_at":"2026-01-31T12:00:00Z"}"#
    private let opened = Ticket(
        id: 7, title: "Foxes", assigneeName: "Ada", openedAt: Date(timeIntervalSince1970: 1_769_860_800))

    /// Serves the tracker while `body` runs, and returns what it was asked.
    private func serving(_ body: (Tracker) async throws -> Void) async throws -> [String] {
        let asked = Recorder<String>()
        try await Loopback.serving { request in
            let content = String(decoding: try await request.bodyData, as: UTF8.self)
            let isForm = request.headers[.contentType]?.hasPrefix("multipart") == true
            asked.note("\(request.method.rawValue) \(request.target.rawValue) \(isForm ? "a form" : content)")
            if request.path == "/v1/token" { return .json(#"{"access_token":"second","expires_in":3600}"#) }
            guard request.headers[.authorization] == "Bearer second" else { return .status(.unauthorized) }
            switch "\(request.method.rawValue) \(request.target.rawValue)" {
            case "GET /v1/tickets?page=2": return .json("[]")
            case "GET /v1/tickets/8": return .json(#"{"error_message":"gone","invalid_fields":[]}"#, status: .notFound)
            case "POST /v1/tickets" where content.contains(#""title":"""#):
                let status = HTTPStatusCode(422, phrase: "Unprocessable Content")
                let error = #"{"error_message":"A ticket needs a title.","invalid_fields":["title"]}"#
                return .json(error, status: status)
            case let target where target.hasPrefix("GET /v1/tickets?"):
                return .json("[\(ticket)]").with(["Link": "</v1/tickets?page=2>; rel=next"])
            default: return .json(ticket)
            }
        } _: { server in
            let environment = Environment(tracker: server.host + "/v1", billing: server.host)
            try await body(Tracker(environment, refreshToken: "r3fresh"))
        }
        return asked.entries
    }

    @Test func `everything that the app requests`() async throws {
        let asked = try await serving { tracker in
            let filter = Filter(assigneeName: "Ada", openedSince: Date(timeIntervalSince1970: 0))
            #expect(try await tracker.tickets(filter) == [opened])
            #expect(try await tracker.ticket(7) == opened)
            #expect(try await tracker.ticket(8) == nil)
            #expect(try await tracker.open("Foxes", labels: ["own"], dueOn: Date(timeIntervalSince1970: 0)) == opened)
            #expect(try await tracker.change(7, title: "Foxes") == opened)
            #expect(try await tracker.change(7, assignee: "") == opened)
            try await tracker.attach(Data([1, 2, 3]), to: 7, note: "See below")
            let error = await #expect(throws: TrackerError.self) {
                try await tracker.open("", labels: [], dueOn: Date(timeIntervalSince1970: 0))
            }
            #expect(error?.errorMessage == "A ticket needs a title.")
            #expect(error?.invalidFields == ["title"])
            #expect(error?.status?.code == 422)
        }
        let query = "assignee_name=Ada&opened_since=1970-01-01T00%3A00%3A00Z&per_page=2"
        #expect(
            asked == [
                "GET /v1/tickets?\(query) ",
                "POST /v1/token grant_type=refresh_token&refresh_token=r3fresh",
                "GET /v1/tickets?\(query) ",
                "GET /v1/tickets?page=2 ",
                "GET /v1/tickets/7 ",
                "GET /v1/tickets/8 ",
                #"POST /v1/tickets {"due_on":"1970-01-01T00:00:00Z","labels":["own"],"title":"Foxes"}"#,
                #"PATCH /v1/tickets/7 {"title":"Foxes"}"#,
                #"PATCH /v1/tickets/7 {"assignee_name":null}"#,
                "POST /v1/tickets/7/attachments a form",
                #"POST /v1/tickets {"due_on":"1970-01-01T00:00:00Z","labels":[],"title":""}"#,
            ])
    }

    @Test func `two hosts with different JSON, each with its own preset`() async throws {
        let billing = URLSession.Config().with { $0.transport = .answering(#"[{"invoiceNumber":"A-1","total":9.90}]"#) }
        try await URLSession.Config.withHosts(["billing.example.com": billing]) {
            let invoices = try await Billing(environment: .production).invoices()
            #expect(invoices == [Invoice(invoiceNumber: "A-1", total: 9.9)])
        }
        let tracker = Tracker(.staging, refreshToken: "", transport: .answering("[\(ticket)]"))
        #expect(try await tracker.tickets() == [opened])
    }

    @Test @MainActor func `a model on the main actor shows what it gets, and says how long to wait`() async throws {
        let model = TicketList(Tracker(.production, refreshToken: "", transport: .answering("[\(ticket)]")))
        await model.load()
        #expect(model.tickets == [opened])
        #expect(model.notice == nil)

        let busy = Transport { _ in
            .init(
                status: .tooManyRequests, headerFields: [.retryAfter: "7"],
                body: .init(Data(#"{"error_message":"Slow down.","invalid_fields":[]}"#.utf8)))
        }
        let waiting = TicketList(Tracker(.production, refreshToken: "", transport: busy))
        await waiting.load()
        #expect(waiting.notice == "Please wait 7 s.")

        let offline = Transport { _ in throw URLError(.notConnectedToInternet) }
        let alone = TicketList(Tracker(.production, refreshToken: "", transport: offline))
        await alone.load()
        #expect(alone.notice == "There is no connection.")
    }
}

extension Transport {
    fileprivate static func answering(_ json: String) -> Self {
        Self { _ in .init(headerFields: [.contentType: "application/json"], body: .init(Data(json.utf8))) }
    }
}
