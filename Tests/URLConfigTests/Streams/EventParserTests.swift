import Testing

@testable import URLConfig

/// The rules of WHATWG HTML §9.2.6, for each stream however it is cut into chunks.
@Suite struct EventParserTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: Data
        let expected: ParsedStream<ServerSentEvent>

        init(
            _ name: String, _ text: String, _ events: [ServerSentEvent], id: String = "", retry: Duration? = nil
        ) {
            self.init(name, Array(text.utf8), events, id: id, retry: retry)
        }

        init(
            _ name: String, _ bytes: [UInt8], _ events: [ServerSentEvent], id: String = "", retry: Duration? = nil
        ) {
            testDescription = name
            self.bytes = Data(bytes)
            expected = ParsedStream(elements: events, lastEventID: id, retry: retry)
        }
    }

    private static func event(_ data: String, id: String = "", _ type: String = "message") -> ServerSentEvent {
        ServerSentEvent(event: type, data: data, id: id)
    }

    /// What the web platform tests of `eventsource` check, under their names.
    private static let webPlatform: [Vector] = [
        Vector("format-bom", "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", [event("1"), event("3")]),
        Vector("format-bom-2", "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", [event("2"), event("3")]),
        Vector(
            "format-comments",
            "data:1\r:\0\n:\r\ndata:2\n:\(long)\rdata:3\n:data:fail\r:\(long)\ndata:4\n\n", [event("1\n2\n3\n4")]),
        Vector("format-field-data", "data:\n\ndata\ndata\n\ndata:test\n\n", [event(""), event("\n"), event("test")]),
        Vector("format-field-event", "event:test\ndata:x\n\ndata:x\n\n", [event("x", "test"), event("x")]),
        Vector("format-field-event-empty", "event: \ndata:data\n\n", [event("data")]),
        Vector(
            "format-field-id", "id:\u{2026}\ndata:hello\n\ndata:a\n\n",
            [event("hello", id: "\u{2026}"), event("a", id: "\u{2026}")], id: "\u{2026}"),
        Vector(
            "format-field-id-3", "id:1\ndata:a\n\nid:2\ndata:b\n\ndata:c\n\nid\ndata:d\n\ndata:e\n\n",
            [event("a", id: "1"), event("b", id: "2"), event("c", id: "2"), event("d"), event("e")]),
        Vector(
            "format-field-id-null", "id:1\ndata:a\n\nid:\0\0\ndata:b\n\nid:2\0\ndata:c\n\n",
            [event("a", id: "1"), event("b", id: "1"), event("c", id: "1")], id: "1"),
        Vector(
            "format-field-parsing",
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\n"
                + "data:4\n\n",
            [event("\0\n 2\n1\n3\n\n4")]),
        Vector("format-field-retry", "retry:3000\ndata:x\n\n", [event("x")], retry: .seconds(3)),
        Vector("format-field-retry-bogus", "retry:3000\nretry:1000x\ndata:x\n\n", [event("x")], retry: .seconds(3)),
        Vector("format-field-retry-empty", "retry:1000\nretry:\ndata:test\n\n", [event("test")], retry: .seconds(1)),
        Vector(
            "format-field-unknown",
            "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
            [event("test\n\ntest")]),
        Vector("format-leading-space", "data:\ttest\rdata: \ndata:test\n\n", [event("\ttest\n\ntest")]),
        Vector("format-newlines", "data:test\r\ndata\ndata:test\r\n\r", [event("test\n\ntest")]),
        Vector("format-null-character", "data:\0\n\n", [event("\0")]),
        Vector("format-utf-8", "data:ok\u{2026}\n\n", [event("ok\u{2026}")]),
        Vector(
            "format-data-before-final-empty-line", "retry:1000\ndata:test1\n\nid:test\ndata:test2\n",
            [event("test1")], retry: .seconds(1)),
        Vector(
            "event-data",
            "data:msg\ndata:msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\ndata:end\n\n",
            [event("msg\nmsg"), event(""), event("end")]),
    ]

    private static let long = String(repeating: "x", count: 2048)

    private static let others: [Vector] = [
        Vector("nothing", "", []), Vector("only a byte order mark", "\u{FEFF}", []),
        Vector("half a byte order mark", [0xEF, 0xBB] + Array("data:1\n\ndata:2\n\n".utf8), [event("2")]),
        Vector("a byte order mark before a blank line", "\u{FEFF}\n\ndata:1\n\n", [event("1")]),
        Vector(
            "mixed terminators", "data:1\r\ndata:2\n\rdata:3\r\n\ndata:4\r\r\n",
            [event("1\n2"), event("3"), event("4")]),
        Vector(
            "other separators of Unicode", "data:1\u{B}2\u{C}3\u{85}4\u{2028}5\u{2029}6\n\n",
            [event("1\u{B}2\u{C}3\u{85}4\u{2028}5\u{2029}6")]),
        Vector("colons in a value", "data::a: b:\n\n", [event(":a: b:")]),
        Vector("a space in a name", "data : 1\n\n data: 2\n\ndata: 3\n\n", [event("3")]),
        Vector("an event without data has an ID", "data:1\n\nid:7\n\n", [event("1")], id: "7"),
        Vector("an unfinished event has no ID", "data:1\n\nid:7\n", [event("1")]),
        Vector("the type of an event without data", "event:a\n\ndata:1\n\n", [event("1")]),
        Vector(
            "the type of the event before, again or not",
            "event:a\ndata:1\n\ndata:2\n\nevent:a\ndata:3\n\nevent:ab\ndata:4\n\nevent:a\nevent:\ndata:5\n\n",
            [event("1", "a"), event("2"), event("3", "a"), event("4", "ab"), event("5")]),
        Vector(
            "a retry field is read at once, signs and spaces are not digits",
            "retry: 5\nretry:+1\nretry:-1\nretry:  1\nretry:1 \nretry:1.5\nretry:\u{FF11}\nretry\n", [],
            retry: .milliseconds(5)),
        Vector("no time", "retry:000\n", [], retry: .zero),
        Vector("names that begin like others", "dat:1\ndatas:1\nids:1\ni:1\nevents:1\nretr:1\nretrys:1\n\n", []),
        Vector(
            "invalid UTF-8",
            Array("data:a".utf8) + [0xFF, 0xE2, 0x80, 0x62, 0xC0, 0x80, 0xED, 0xA0, 0x80] + Array("\nid:".utf8)
                + [0xF0, 0x9F] + Array("\nevent:".utf8) + [0x80] + Array("\ndata:".utf8) + [0xE2, 0x0A, 0x0A],
            [
                event(
                    "a\u{FFFD}\u{FFFD}b\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\n\u{FFFD}", id: "\u{FFFD}", "\u{FFFD}")
            ], id: "\u{FFFD}"),
    ]

    @Test(arguments: webPlatform + others)
    func `a stream gives the same events, however it is cut`(vector: Vector) {
        let wrong = vector.bytes.splits.filter { ParsedStream<ServerSentEvent>($0) != vector.expected }
        #expect(wrong.isEmpty, "first: \(wrong.first.map { ParsedStream<ServerSentEvent>($0) } as Any)")
    }

    @Test(arguments: ["\r\r", "\n\n", "\r\n\r", "\n\r"])
    func `an event is returned with the first byte that ends it`(end: String) throws {
        var parser = EventParser()
        parser.append(Data("data: 1\(end)".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "1"))
        parser.append(Data("\ndata: 2\r".utf8))
        #expect(try parser.next() == nil)
        parser.append(Data("\ndata: 3\r\n\r".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "2\n3"))
        #expect(try parser.next() == nil)
    }

    @Test func `events are made one by one, and chunks may arrive in between`() throws {
        var parser = EventParser()
        parser.append(Data("id: 1\ndata: a\n\nid: 2\nretry: 1\ndata: b\n\ndata: ".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "a", id: "1"))
        #expect(parser.lastEventID == "1")
        #expect(parser.retry == nil)
        parser.append(Data("c\n\n".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "b", id: "2"))
        #expect(parser.lastEventID == "2")
        #expect(parser.retry == .milliseconds(1))
        #expect(try parser.next() == ServerSentEvent(data: "c", id: "2"))
        #expect(try parser.next() == nil)
        #expect(try parser.next() == nil)
    }

    @Test func `after a reconnection, events have the ID that was sent`() {
        let stream = Data("data: 1\n\nid\n\ndata: 2\n\n".utf8)
        let parsed = ParsedStream<ServerSentEvent>([stream], lastEventID: "7")
        #expect(parsed.elements == [ServerSentEvent(data: "1", id: "7"), ServerSentEvent(data: "2")])
        #expect(parsed.lastEventID.isEmpty)
        #expect(ParsedStream<ServerSentEvent>([], lastEventID: "7").lastEventID == "7")
    }

    @Test func `an event has the type message by default`() {
        #expect(ServerSentEvent() == ServerSentEvent(event: "message", data: "", id: ""))
    }

    @Test func `an event is shown on one line, without secrets and without its response`() {
        let data = #"{"token":"s3cret"}"# + "\n" + String(repeating: "x", count: 5000)
        var event = ServerSentEvent(event: "token", data: data, id: "7")
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.authorization = .bearer("s3cret-of-call") }
        event.source = .init(head: DataResponse(request: request), number: 1)
        var dumped = ""
        dump(event, to: &dumped)
        for shown in ["\(event)", dumped] {
            #expect(!shown.contains("s3cret"))
            #expect(shown.contains(#"token, ID 7: {"token":"***"}"#))
        }
        #expect("\(event)".utf8.count < 1200)
        #expect("\(event)".utf8.allSatisfy { $0 != UInt8(ascii: "\n") })
    }

    @Test func `an error names an event without the secrets of its type and its ID`() throws {
        var parser = EventParser(of: DataResponseTests.response([]))
        let id = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        parser.append(Data("id: \(id)\nevent: access_token=abcdefgh1234567\ndata: {\"a\":\"x\"}\n\n".utf8))
        let event = try #require(try parser.next())
        let error = expectThrown(.decoding) { try event.decode([String: Int].self) }
        #expect(error?.reason.hasPrefix("event 1 (access_token=***, ID ***): cannot read") == true, "\(error as Any)")
    }
}
