import Testing
import URLConfigTesting

@testable import URLConfig

/// Lines, values and events of a stream.
@Suite(.inTime) struct StreamTextTests {
    private struct Item: Decodable, Equatable, Sendable {
        let someNumber: Int
    }

    /// A decoder that differs from the default one.
    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// Sends each part when the part before was read.
    private static func sending(_ parts: [String], _ turn: DispatchSemaphore, type: String) -> FaultServer.Fault {
        .reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n")
            for part in parts {
                try connection.send(part)
                turn.wait()
            }
        }
    }

    @Test func `each value is there as soon as its line has arrived`() async throws {
        let turn = DispatchSemaphore(value: 2)
        let parts = ["{\"some_number\": 1}\n\n", " \t\r\n{\"some_num", "ber\": 2}\n{\"some_number\": 3}"]
        try await FaultServer.serving(Self.sending(parts, turn, type: "application/x-ndjson")) { server in
            let response = try await server.stream { $0.decoder = Self.decoder }
            var values: [Item] = []
            for try await value in response.values(of: Item.self) {
                values.append(value)
                turn.signal()
            }
            #expect(values == (1...3).map { Item(someNumber: $0) })
        }
    }

    @Test(
        .stubs {
            $0.any("/*", .events("data: {\"some_number\": 1}\n\ndata: [DONE]\n\ndata: {\"some_number\": 2}\n\n"))
        },
        arguments: [true, false])
    func `events are values until the one that is the end`(isOneConnection: Bool) async throws {
        var values: [Item] = []
        if isOneConnection {
            let reply = try await stubs.session.stream(for: stubs.request()) { $0.decoder = Self.decoder }
            for try await value in reply.events.values(of: Item.self, until: "[DONE]") { values.append(value) }
        } else {
            let events = stubs.session.events(for: stubs.request()) { $0.decoder = Self.decoder }
            for try await value in events.values(of: Item.self, until: "[DONE]") { values.append(value) }
        }
        #expect(values == [Item(someNumber: 1)])
        let error = await #expect(throws: RequestError.self) {
            let reply = try await stubs.session.stream(for: stubs.request())
            for try await _ in reply.events.values(of: Item.self) {}
        }
        #expect(error?.reason.contains("event 1") == true)
        let cut = await #expect(throws: RequestError.self) {
            let reply = try await stubs.session.stream(for: stubs.request()) { $0.decoder = Self.decoder }
            for try await _ in reply.events.prefix(1).values(of: Item.self, until: "[DONE]") {}
        }
        #expect(cut?.code == .invalidResponse && cut?.reason == "the events ended without '[DONE]'")
    }

    @Test(.stubs { $0.any("/*", .events("")) })
    func `the error about events that end before the first one has the request and the response`() async throws {
        let reply = try await stubs.session.stream(for: stubs.request(), config: .silent)
        let error = await expectError(.invalidResponse) {
            for try await _ in reply.events.values(of: Item.self, until: "[DONE]") {}
        }
        #expect(error?.request?.url?.host() == "api.test" && error?.response?.status == .ok)
        #expect(error?.attempts.count == 1)
    }

    @Test(.stubs { $0.any("/*", .text("{}")) })
    func `after an error of the events, there is no other one`() async throws {
        let reply = try await stubs.session.stream(for: stubs.request())
        var values = reply.events.values(of: Item.self, until: "[DONE]").makeAsyncIterator()
        let first = await Result { try await values.next() }
        let error = #expect(throws: RequestError.self) { try first.get() }
        #expect(error?.code == .unacceptableContentType)
        #expect(try await values.next() == nil)
    }

    @Test func `a value that does not fit is an error that names the line or the event, and shows it`() async throws {
        let body = "{\"someNumber\": 1}\n\n{\"someNumber\": true}\n"
        try await FaultServer.serving(.ok(body)) { server in
            let (values, error) = try await server.stream().values(of: Item.self).outcome
            #expect(values == [Item(someNumber: 1)])
            let wrong = error as? RequestError
            #expect(wrong?.code == .decoding)
            #expect(wrong?.reason.hasPrefix("line 3: cannot read Item from 20 B of") == true)
            #expect(wrong?.reason.hasSuffix("someNumber is a boolean, expected Int") == true)
            #expect(wrong?.response.map { String(decoding: $0.data, as: UTF8.self) } == #"{"someNumber": true}"#)
        }
        let events = "data: {\"someNumber\": 1}\n\nevent: new\nid: 7\ndata: []\n\n"
        try await FaultServer.serving(.events(events)) { server in
            let (events, _) = try await server.stream().events.outcome
            let error = #expect(throws: RequestError.self) { try events.last?.decode(Item.self) }
            #expect(error?.reason.hasPrefix("event 2 (new, ID 7): cannot read Item from 2 B of") == true)
        }
    }

    @Test(arguments: [
        ("Content-Type: application/json\r\n", false), ("Content-Type: text/html\r\n", false),
        ("Content-Type: text/event-stream; charset=utf-8\r\n", true), ("", true),
    ])
    func `events of another content type are an error before the first one`(field: String, isRead: Bool) async throws {
        let fault = FaultServer.Fault.raw("HTTP/1.1 200 OK\r\n\(field)Connection: close\r\n\r\ndata: 1\n\n")
        try await FaultServer.serving(fault) { server in
            let (events, error) = try await server.stream().events.outcome
            #expect(events == (isRead ? [ServerSentEvent(data: "1")] : []))
            #expect((error as? RequestError)?.code == (isRead ? nil : .unacceptableContentType))
        }
    }

    @Test func `a loop that ends with the wrong content type ends the transfer, although the response is kept`()
        async throws
    {
        let isOver = Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        try await FaultServer.serving(.endless(head, "<p>") { isOver.open() }) { server in
            let response = try await server.stream()
            await expectError(.unacceptableContentType) { for try await _ in response.events {} }
            await isOver.pass()
            await expectError(.invalidResponse) { for try await _ in response.chunks {} }
        }
    }

    @Test(.stubs { $0.get("/", .data(Data([0x22, 0x61, 0x22, 0x0A, 0x22, 0xE9, 0x22, 0x0A]))) })
    func `a value that is not UTF-8 is an error, as in a whole response`() async throws {
        let response = try await stubs.session.stream(for: stubs.request(), config: .silent)
        var values: [String] = []
        let error = await #expect(throws: RequestError.self) {
            for try await value in response.values(of: String.self) { values.append(value) }
        }
        #expect(values == ["a"])
        #expect(error?.code == .decoding)
        #expect(error?.reason.hasPrefix("line 2: ") == true)
    }

    @Test func `each event is there as soon as its blank line has arrived`() async throws {
        let turn = DispatchSemaphore(value: 1)
        let parts = ["data: {\"some_number\": 1}\n\n", "event: end\nid: 7\nda", "ta\n\ndata: unfinished"]
        try await FaultServer.serving(Self.sending(parts, turn, type: "text/event-stream")) { server in
            let response = try await server.stream { $0.decoder = Self.decoder }
            var events: [ServerSentEvent] = []
            for try await event in response.events {
                events.append(event)
                if event.event == "message" { #expect(try event.decode() == Item(someNumber: 1)) }
                for _ in 0..<3 { turn.signal() }
            }
            #expect(events == [.init(data: #"{"some_number": 1}"#), .init(event: "end", id: "7")])
        }
    }

    @Test func `an event that was made by hand is also decoded`() throws {
        #expect(try ServerSentEvent(data: #"{"someNumber": 5}"#).decode(Item.self) == Item(someNumber: 5))
    }
}
