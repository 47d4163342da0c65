import FlyingFox
import FlyingSocks
import Foundation

/// Stands in for the API on a free loopback port: it has two models, and one of them fails while it writes.
///
/// This file does not import URLConfig, whose HTTPTypes have requests and responses with the same names.
enum StandIn {
    static let key = "sk-stand-in"
    static let model = "stand-in"
    static let failingModel = "stand-in-overloaded"

    /// Serves while `body` runs.
    static func run(_ body: @Sendable (_ host: String) async throws -> Void) async throws {
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { try await response(to: $0) })
        // The end of this function cancels the server, which closes its port.
        async let _: Void = server.run()
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(let address, let port) = await server.listeningAddress else {
            throw SocketError.unsupportedAddress
        }
        try await body("http://\(address):\(port)")
    }

    private static func response(to request: HTTPRequest) async throws -> HTTPResponse {
        guard request.headers[.authorization] == "Bearer \(key)" else {
            return error(.unauthorized, "Incorrect API key provided.", "invalid_api_key")
        }
        switch (request.method, request.path) {
        case (.GET, "/v1/models"):
            let models = [model, failingModel].map { #"{"id": "\#($0)", "object": "model"}"# }
            return json(#"{"object": "list", "data": [\#(models.joined(separator: ","))]}"#, .ok)
        case (.POST, "/v1/chat/completions"):
            guard let chat = try? await JSONDecoder().decode(Chat.self, from: request.bodyData), chat.stream else {
                return error(.badRequest, "The body is not a chat with \"stream\": true.", nil)
            }
            guard [model, failingModel].contains(chat.model) else {
                return error(.notFound, "There is no such model.", "model_not_found")
            }
            let body = HTTPBodySequence(from: Events(events: try events(of: chat)))
            return HTTPResponse(statusCode: .ok, headers: [.contentType: "text/event-stream"], body: body)
        default:
            return error(.notFound, "There is nothing here.", nil)
        }
    }

    /// The body of a request.
    private struct Chat: Decodable {
        let model: String
        let stream: Bool
        let messages: [Message]

        struct Message: Decodable {
            let content: String
        }
    }

    private static func events(of chat: Chat) throws -> [String] {
        let prompt = chat.messages.last?.content ?? ""
        let text = """
            You wrote “\(prompt)”, and I am only a stand-in. But I know this: a call has three stages. Create a plain \
            URLRequest from a preset, execute it on any URLSession, and handle the response: check it first, then \
            read its events while the model is still writing.
            """
        // Each word with the space before it.
        let words = text.split(separator: " ").enumerated().map { $0 == 0 ? String($1) : " \($1)" }
        let pieces = try words.map { try chunk(choices: #"{"index": 0, "delta": {"content": \#(quoted($0))}}"#) }
        if chat.model == failingModel {
            return pieces.prefix(9) + [reason("The model is overloaded.", "server_error", nil)]
        }
        let start = chunk(choices: #"{"index": 0, "delta": {"role": "assistant", "content": ""}}"#)
        let end = chunk(choices: #"{"index": 0, "delta": {}, "finish_reason": "stop"}"#)
        let read = prompt.split(separator: " ").count
        let usage = chunk(usage: #"{"prompt_tokens": \#(read), "completion_tokens": \#(words.count)}"#)
        return [start] + pieces + [end, usage, "[DONE]"]
    }

    private static func chunk(choices: String = "", usage: String = "null") -> String {
        #"{"id": "1", "object": "chat.completion.chunk", "choices": [\#(choices)], "usage": \#(usage)}"#
    }

    private static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private static func error(_ status: HTTPStatusCode, _ message: String, _ code: String?) -> HTTPResponse {
        json(reason(message, "invalid_request_error", code), status)
    }

    private static func reason(_ message: String, _ type: String, _ code: String?) -> String {
        #"{"error": {"message": "\#(message)", "type": "\#(type)", "code": \#(code.map { #""\#($0)""# } ?? "null")}}"#
    }

    private static func json(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }
}

/// Server-sent events as a body that is sent piece by piece, with a pause before each event.
private struct Events: AsyncBufferedSequence {
    typealias Element = UInt8

    let events: [String]

    func makeAsyncIterator() -> Iterator { Iterator(events: events[...]) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var events: ArraySlice<String>

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard let event = events.popFirst() else { return nil }
            try await Task.sleep(for: .milliseconds(30))
            return Array("data: \(event)\n\n".utf8)
        }

        /// FlyingFox reads bodies only with the function above.
        mutating func next() async throws -> UInt8? { throw SocketError.disconnected }
    }
}
