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

    /// From the least to the most: years, or kilograms.
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

/// An answer that is no success, with the reasons that the API gave: a JSON:API document of errors.
struct APIError: Error, CustomStringConvertible {
    let status: HTTPResponse.Status
    let reasons: [Reason]

    struct Reason: Decodable, Sendable {
        let title: String?
        let detail: String?
    }

    struct Document: Decodable {
        let errors: [Reason]
    }

    var description: String {
        let texts = reasons.compactMap { $0.detail ?? $0.title }
        return "\(status.code): \(texts.isEmpty ? "the API gives no reason" : texts.joined(separator: ", "))"
    }
}
