import URLConfig

extension Step {
    static let typedRequests = Step("Typed requests: a model, a missing one, and the service's own error") { server in
        let statistics = try await URLSession.shared.value(for: .statistics(article: 3))
        let missing = try await URLSession.shared.value(for: .article(9))
        var refusal: Refusal?
        do {
            try await URLSession.shared.value(for: .deleteArticle(9))
        } catch let error as Refusal {
            refusal = error
        }

        tell("\(statistics.viewCount) views; \(missing?.title ?? "no article 9"); “\(refusal?.message ?? "")”")
        try expect("views", statistics.viewCount, equals: 12)
        try expect("article", missing, equals: nil)
        try expect("refusal", refusal?.message, equals: "there is nothing here")
        try await expect(
            "sent", server.received.map(\.summary),
            equals: [
                "GET /v2/articles/3/statistics without credentials", "GET /v2/articles/9 without credentials",
                "DELETE /v2/articles/9 without credentials",
            ])
    }
}

extension TypedRequest where Output == Statistics {
    static func statistics(article id: Int) -> Self {
        .with(.api) { $0.path = "/articles/\(id)/statistics" }
    }
}

extension TypedRequest where Output == Article? {
    static func article(_ id: Int) -> Self {
        .with(.api, reader: .json.or(nil, for: .notFound)) { $0.path = "/articles/\(id)" }
    }
}

extension TypedRequest where Output == Void {
    static func deleteArticle(_ id: Int) -> Self {
        .with(.api, reader: .discard.orThrow(Refusal.self)) {
            $0.method = .delete
            $0.path = "/articles/\(id)"
        }
    }
}

/// The content of each response that is not 2xx.
struct Refusal: Decodable, Error {
    let message: String
}
