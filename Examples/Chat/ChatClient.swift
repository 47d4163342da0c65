import URLConfig

/// Where the app gets its replies.
struct ChatClient: Sendable {
    var api: URLRequest.Config
    var model: String

    func models() async throws -> [String] {
        let response = try await URLSession.shared.response(for: .models(api), config: .chat)
        return try response.decode(ModelList.self, orThrow: APIError.self).data.map(\.id)
    }

    /// Returns when the model begins to write; throws ``APIError`` if the API refuses the request.
    func reply(to messages: [Message]) async throws -> Reply {
        // 1. create
        let request = URLRequest.chat(messages, model: model, api)
        // 2. execute
        let response = try await URLSession.shared.stream(for: request, config: .chat)
        // 3. handle: check first, then read what arrives
        try response.validated(orThrow: APIError.self).validated(contentType: "text/event-stream")
        return Reply(events: response.events)
    }
}

/// The pieces of a reply as they arrive; throws ``APIError`` if the model fails while it writes.
struct Reply: AsyncSequence {
    fileprivate let events: StreamResponse.Elements<ServerSentEvent>

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: StreamResponse.Elements<ServerSentEvent>.AsyncIterator

        mutating func next() async throws -> Chunk? {
            guard let event = try await events.next() else { throw Surprise("the reply breaks off without [DONE]") }
            if event.data == "[DONE]" { return nil }
            let chunk: Chunk = try event.decode()
            if let reason = chunk.error { throw APIError(reason) }
            return chunk
        }
    }
}

extension URLRequest {
    static func models(_ api: Config) -> URLRequest {
        .with(api) { $0.path = "/v1/models" }
    }

    static func chat(_ messages: [Message], model: String, _ api: Config) -> URLRequest {
        .with(api) {
            $0.method = .post
            $0.path = "/v1/chat/completions"
            // Without it, a POST is sent once. A repeated one does no harm: nobody has read a word of the first reply.
            $0.idempotencyKey = .automatic
            $0.body["model"] = model
            $0.body["messages"] = messages
            $0.body["stream"] = true
            $0.body["stream_options"] = ["include_usage": true]
        }
    }
}

extension URLRequest.Config {
    static func chat(host: String, key: String) -> Self {
        Self(host: host) {
            $0.authorization = .bearer(key)
            // The longest silence in a stream.
            $0.timeout = .seconds(60)
        }
    }
}

extension URLSession.Config {
    static let chat = Self().with {
        $0.decoder = JSONDecoder.chat
        // Until the reply begins; after that, nothing is sent again.
        $0.retry = .standard
        // For the whole reply.
        $0.deadline = .seconds(120)
    }
}

extension JSONDecoder {
    static let chat = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()
}
