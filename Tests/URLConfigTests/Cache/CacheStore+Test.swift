@testable import URLConfig

extension CacheKey {
    /// A key from small numbers.
    static func test(_ resource: Int, by requester: Int = 0) -> Self {
        Self(resource: UInt64(resource).hexDigits, requester: UInt64(requester).hexDigits)
    }
}

extension HTTPField.Name {
    fileprivate static let seed = Self("Seed") ?? .via
}

extension StoredResponse.Head {
    /// The head of a response whose body is known.
    static func test(_ seed: Int, count: Int, variant: Int = 0, more: [[String]] = []) -> Self {
        var head = Self()
        head.variant = UInt64(variant).hexDigits
        for field in [["Seed", "\(seed)"], ["Content-Length", "\(count)"]] + more {
            HTTPField.Name(field[0]).map { head.fields[$0] = field[1] }
        }
        return head
    }

    /// The body that a response with this head must have.
    var body: Data? {
        guard let seed = fields[.seed].flatMap({ Int($0) }), let count = fields[.contentLength].flatMap({ Int($0) })
        else { return nil }
        let start = seed % Data.samplePeriod
        return Data(Data.sample(start + count).dropFirst(start))
    }
}

extension StoredResponse {
    /// Whether the body can be read; `nil` if it is wrong, or shorter or longer than it was.
    var isComplete: Bool? {
        get async {
            guard let found = try? await body().collect() else { return false }
            return found == head.body ? true : nil
        }
    }
}

extension CacheStore {
    /// Stores a response, in pieces.
    func put(_ head: StoredResponse.Head, _ key: CacheKey, piece: Int = 300_000) async throws {
        var rest = head.body ?? Data()
        let writer = try await writer(for: head, key: key)
        while !rest.isEmpty {
            try await writer?.write(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        try await writer?.finish()
    }

    /// The variants under a key that are complete, as numbers.
    func variants(_ key: CacheKey) async throws -> [Int] {
        var variants: [Int] = []
        for response in try await responses(for: key) where await response.isComplete == true {
            variants.append(Int(response.head.variant, radix: 16) ?? -1)
        }
        return variants.sorted()
    }
}
