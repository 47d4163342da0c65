@testable import URLConfig

/// What a parser makes of the chunks of a body.
struct ParsedStream<Element: Equatable & Sendable>: Equatable, Sendable {
    var elements: [Element] = []
    var lastEventID = ""
    var retry: Duration?
    /// Why parsing stopped early.
    var reason: String?

    private mutating func parse(_ chunks: [Data], with parser: inout some BodyParser<Element>) {
        do {
            for chunk in chunks {
                parser.append(chunk)
                while let element = try parser.next() { elements.append(element) }
            }
            if let element = try parser.end() { elements.append(element) }
        } catch {
            reason = (error as? RequestError)?.reason
        }
    }
}

extension ParsedStream<ServerSentEvent> {
    init(_ chunks: [Data], lastEventID: String = "", limit: Int = LineSplitter.standardLimit) {
        var parser = EventParser(lastEventID: lastEventID, limit: limit)
        parse(chunks, with: &parser)
        (self.lastEventID, retry) = (parser.lastEventID, parser.retry)
    }
}

extension ParsedStream<String> {
    init(_ chunks: [Data], limit: Int = LineSplitter.standardLimit) {
        var lines = LineSplitter(limit: limit)
        parse(chunks, with: &lines)
    }
}

extension Data {
    /// All ways to cut the bytes in two, and the single bytes, each also after an empty chunk.
    var splits: [[Data]] {
        let bytes = map { Data([$0]) }
        return (0...count).map { [prefix($0), dropFirst($0)] } + [[self], bytes, bytes.flatMap { [Data(), $0] }]
    }
}
