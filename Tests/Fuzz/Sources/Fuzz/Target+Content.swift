import Foundation
import HTTPTypes

@testable import URLConfig

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let request = URLRequest.with(.init(host: "https://h.example"))

extension Target {
    /// The tokenizer agrees with Foundation on what is JSON, and errors about it are short.
    static let json = Self("json") { input in
        let bytes = input.bytes()
        var tokens = JSONTokenizer(bytes)
        tokens.check()
        let isRead = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
        // Foundation also reads UTF-16, UTF-32 and a comma before a bracket, and cannot represent every number.
        if !bytes.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) {
            let words = tokens.fault?.words ?? "a comma with nothing after it"
            require(!isRead || words == "a comma with nothing after it", words)
            require(isRead || tokens.fault != nil || tokens.oddNumber != nil, "only the tokenizer reads it")
        }
        let formatted = JSONText(bytes).output
        require(formatted.filter { !$0.isJSONSpace } == bytes.filter { !$0.isJSONSpace }, "it was changed")
        let response = DataResponse(
            request: request, headerFields: [.contentType: "application/json"], data: Data(bytes))
        do {
            _ = try response.decode(Node.self)
        } catch {
            let text = "\(error)"
            require(text.utf8.count < 4000 && text.escapingControls == text, text)
        }
    }

    private struct Node: Decodable {
        var id: Int
        var viewCount: UInt8?
        var child: [Self]?
        var children: [String: [Int]]?
    }

    /// All that is read from a response, with any status, type and content.
    static let response = Self("response") { input in
        let status = HTTPResponse.Status(code: input.element(of: [200, 204, 400, 401, 404, 429, 500]))
        let types = [
            "application/problem+json", "application/json", "text/html", "text/plain; charset=", "multipart/mixed", "",
        ]
        let type = input.element(of: types)
        let fields = HTTPFields(received: [("Content-Type", type + input.text()), ("Link", input.text())])
        let response = DataResponse(request: request, status: status, headerFields: fields, data: Data(input.bytes()))
        var texts = [response.description, response.bodyString, String(reflecting: response)]
        if let problem = response.problem {
            texts.append("\(problem)")
            let members: [String?] = [problem["title"], problem["a"]]
            require(members[0] == nil || members[0] == problem.title, "\(problem)")
        }
        do {
            try response.validated()
            _ = try response.text()
        } catch {
            texts += ["\(error)", error.localizedDescription]
        }
        require(texts.allSatisfy { $0.escapingControls == $0 }, "\(texts)")
        let size = response.data.count + fields.reduce(1000) { $0 + $1.value.utf8.count }
        require(texts.allSatisfy { $0.utf8.count < 64 * size }, "\(texts)")
    }

    /// Lines are the same, however the body arrives.
    static let lines = Self("lines") { input in
        let stream = Stream(&input)
        func lines(_ chunks: [Data], limit: Int) -> [String] {
            var splitter = LineSplitter(limit: limit)
            var lines: [String] = []
            // A function, because in a loop the compiler takes the error of a typed throw for none.
            func read() throws {
                for chunk in chunks {
                    splitter.append(chunk)
                    while let line = try splitter.next() { lines.append(line) }
                }
            }
            guard (try? read()) != nil else { return lines + ["too long"] }
            return lines + (splitter.end().map { ["end: " + $0] } ?? [])
        }
        for limit in [LineSplitter.standardLimit, 7] {
            let whole = lines([stream.data], limit: limit)
            require(lines(stream.chunks, limit: limit) == whole, "\(whole)")
            require(lines(stream.data.map { Data([$0]) }, limit: limit) == whole, "\(whole)")
        }
        var expected = stream.lines
        if expected.last == "" { expected.removeLast() } else { expected.append("end: " + (expected.popLast() ?? "")) }
        let whole = lines([stream.data], limit: LineSplitter.standardLimit)
        require(whole.elementsEqual(expected) { $0.isSame(as: $1) }, "\(whole), expected \(expected)")
    }

    /// Events are the same, however the body arrives, and as the specification says.
    static let events = Self("events") { input in
        let stream = Stream(&input)
        func events(_ chunks: [Data], limit: Int) -> (events: [ServerSentEvent], id: String, isTooLong: Bool) {
            var parser = EventParser(limit: limit)
            var events: [ServerSentEvent] = []
            func read() throws {
                for chunk in chunks {
                    parser.append(chunk)
                    while let event = try parser.next() { events.append(event) }
                }
            }
            let isTooLong = (try? read()) == nil
            return (events, parser.lastEventID, isTooLong)
        }
        for limit in [LineSplitter.standardLimit, 20] {
            let whole = events([stream.data], limit: limit)
            require(events(stream.chunks, limit: limit) == whole, "\(whole)")
            require(events(stream.data.map { Data([$0]) }, limit: limit) == whole, "\(whole)")
        }
        let (whole, id, _) = events([stream.data], limit: LineSplitter.standardLimit)
        let expected = stream.events
        let isSame = whole.elementsEqual(expected.events) {
            $0.data.isSame(as: $1.data) && $0.event.isSame(as: $1.event) && $0.id.isSame(as: $1.id)
        }
        require(isSame && id.isSame(as: expected.id), "\(whole), expected \(expected)")
    }
}

/// A body that arrives in chunks, and what the specification says about it, word by word.
private struct Stream {
    let data: Data
    let chunks: [Data]

    init(_ input: inout Input) {
        let sizes = input.part()
        data = Data(input.bytes())
        var (chunks, rest, index) = ([Data](), data, 0)
        while !rest.isEmpty {
            let size = sizes.isEmpty ? 3 : Int(sizes[index % sizes.count] % 16)
            // An empty chunk makes no progress, so not all are empty.
            let chunk = rest.prefix(size == 0 && index % 2 == 1 ? 1 : size)
            chunks.append(chunk)
            (rest, index) = (rest.dropFirst(chunk.count), index + 1)
        }
        self.chunks = chunks
    }

    /// WHATWG HTML §9.2.5; the last line has no terminator.
    var lines: [String] {
        var scalars = String(decoding: data, as: UTF8.self).unicodeScalars[...]
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var lines = [""]
        while let scalar = scalars.popFirst() {
            if scalar == "\r", scalars.first == "\n" { scalars.removeFirst() }
            if scalar == "\r" || scalar == "\n" {
                lines.append("")
            } else {
                lines[lines.count - 1].unicodeScalars.append(scalar)
            }
        }
        return lines
    }

    /// WHATWG HTML §9.2.6.
    var events: (events: [ServerSentEvent], id: String) {
        var events: [ServerSentEvent] = []
        var (data, type, id, lastID) = ("", "", "", "")
        for line in lines.dropLast() {
            if line.unicodeScalars.isEmpty {
                lastID = id
                if !data.unicodeScalars.isEmpty {
                    data.unicodeScalars.removeLast()
                    events.append(ServerSentEvent(event: type.isEmpty ? "message" : type, data: data, id: id))
                }
                (data, type) = ("", "")
                continue
            }
            let parts = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? parts[1] : Substring().unicodeScalars
            if value.first == " " { value.removeFirst() }
            switch String(parts[0]) {
            case "event": type = String(value)
            case "data": data.unicodeScalars.append(contentsOf: value + ["\n"])
            case "id" where !value.contains("\0"): id = String(value)
            default: break
            }
        }
        return (events, lastID)
    }
}
