import URLConfig

/// Path, three header fields, one of them a bearer token, and a small model as JSON.
func buildPost() {
    let article = Article(title: "some-title", text: "A line of text, as lines are.", tags: ["a", "b"], views: 12)
    build(
        "Build a POST",
        ours: { PostRequest.ours(article) },
        rivals: [
            ("by hand", 0.75, { PostRequest.byHand(article, encoder: PostRequest.encoder()) }),
            ("by hand, one encoder for all", nil, { PostRequest.byHand(article, encoder: PostRequest.sharedEncoder) }),
        ])
}

private struct Article: Encodable {
    var title: String
    var text: String
    var tags: [String]
    var views: Int
}

// Not inlined, for the same reason as the GET.
private enum PostRequest {
    static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJl"
    static let sharedEncoder = encoder()

    @inline(never)
    static func ours(_ article: Article) -> URLRequest {
        URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/articles"
            $0.headers[.accept] = "application/json"
            $0.authorization = .bearer(token)
            $0.bodyModel = article
        }
    }

    @inline(never)
    static func byHand(_ article: Article, encoder: JSONEncoder) -> URLRequest {
        let components = URLComponents(string: "https://api.example.com/v2/articles")!
        var request = URLRequest(url: components.url!)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.httpBody = try? encoder.encode(article)
        return request
    }

    /// One that gives the same bytes as ours.
    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
