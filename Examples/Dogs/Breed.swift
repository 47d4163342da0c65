import URLConfig

/// A JSON:API document (https://jsonapi.org), with links if it is a page of a list.
struct Document<Content: Decodable & Sendable>: Decodable, Sendable {
    let data: Content
    let links: Links?
}

struct Links: Decodable, Sendable {
    let current: String?
    let next: String?
    let last: String?
}

struct Breed: Decodable, Identifiable, Equatable, Sendable {
    let id: String
    let attributes: Attributes
    let relationships: Relationships?

    struct Attributes: Decodable, Equatable, Sendable {
        let name: String
        let description: String
        let life: Span
        let maleWeight: Span
        let femaleWeight: Span
        let hypoallergenic: Bool
    }

    /// A range of years or kilograms.
    struct Span: Decodable, Equatable, Sendable {
        let min: Int
        let max: Int
    }

    struct Relationships: Decodable, Equatable, Sendable {
        let group: Group
    }

    struct Group: Decodable, Equatable, Sendable {
        let data: Reference
    }

    struct Reference: Decodable, Equatable, Sendable {
        let id: String
        let type: String
    }
}

struct Fact: Decodable, Identifiable, Sendable {
    let id: String
    let attributes: Attributes

    struct Attributes: Decodable, Sendable {
        let body: String
    }
}

/// The errors that the API sends with a status that is not 2xx: a JSON:API document.
struct APIError: Decodable, ResponseError, CustomStringConvertible {
    let errors: [Reason]
    private(set) var status: HTTPResponse.Status?

    private enum CodingKeys: CodingKey {
        case errors
    }

    struct Reason: Decodable, Sendable {
        let title: String?
        let detail: String?
    }

    mutating func take(from response: DataResponse) { status = response.status }

    var description: String {
        let texts = errors.compactMap { $0.detail ?? $0.title }
        return "\(status?.code ?? 0): \(texts.isEmpty ? "the API gives no reason" : texts.joined(separator: ", "))"
    }
}
