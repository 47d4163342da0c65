import URLConfig

struct Message: Encodable, Sendable {
    enum Role: String, Encodable {
        case system, user, assistant
    }

    let role: Role
    let content: String
}

/// A piece of a reply, as the API sends it (`chat.completion.chunk`).
struct Chunk: Decodable, Sendable {
    private let choices: [Choice]?
    /// How long the reply was, in the last piece.
    let usage: Usage?
    /// Why the reply breaks off: the status was sent when the model began to write.
    let error: APIError.Reason?

    var text: String? { choices?.first?.delta?.content }
    /// Why the reply ends, such as `stop`.
    var finishReason: String? { choices?.first?.finishReason }

    struct Usage: Decodable, Sendable {
        let promptTokens: Int
        let completionTokens: Int
    }

    private struct Choice: Decodable {
        let delta: Delta?
        let finishReason: String?
    }

    private struct Delta: Decodable {
        let content: String?
    }
}

/// The models that a key may use.
struct ModelList: Decodable, Sendable {
    let data: [Model]

    struct Model: Decodable, Sendable {
        let id: String
    }
}

/// The error that the API sends with a status that is not 2xx, or in the middle of a reply.
struct APIError: Decodable, ResponseError, CustomStringConvertible {
    let error: Reason
    /// `nil` in the middle of a reply.
    private(set) var status: HTTPResponse.Status?

    private enum CodingKeys: CodingKey {
        case error
    }

    struct Reason: Decodable, Sendable {
        let message: String
        let type: String?
    }

    init(_ reason: Reason) {
        error = reason
    }

    mutating func take(from response: DataResponse) { status = response.status }

    var description: String {
        [status.map { "\($0.code)" }, error.type, error.message].compactMap(\.self).joined(separator: ": ")
    }
}
