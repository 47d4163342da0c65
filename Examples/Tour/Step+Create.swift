import URLConfig

extension Step {
    static let presetGet = Step("GET from a static preset") { server in
        let request = URLRequest.with(.api) {
            $0.path = "/articles"
            $0.query["page"] = 2
        }
        let response = try await URLSession.shared.response(for: request)
        let page: Page = try response.decode()

        tell("\(response.status.code): page \(page.page) with \(page.articles.map(\.title).joined(separator: " and "))")
        try expect("status", response.status, equals: .ok)
        try expect("number", page.page, equals: 2)
        try expect("articles", page.articles, equals: [.init(id: 3, title: "Foxes"), .init(id: 4, title: "Owls")])
        try await expect(
            "sent", server.received.map(\.summary), equals: ["GET /v2/articles?page=2 without credentials"])
        try await expect("Accept", server.received.first?.fields["accept"], equals: "application/json")
    }

    static let mixedPost = Step("POST of a body that mixes types") { server in
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/articles"
            $0.body["title"] = "some-title"
            $0.body["meta"] = ["draft": true, "tags": ["a", 1], "ratio": 1.5, "image": .null, "link": nil]
        }
        let response = try await URLSession.shared.response(for: request)

        let article: Article = try response.decode()
        let sent = await server.received.first
        tell("\(response.status.code): article \(article.id), from the body\n\(sent?.body ?? "")")
        try expect("status", response.status, equals: .created)
        try expect("article", article, equals: Article(id: 5, title: "some-title"))
        try expect("sent", sent?.summary, equals: "POST /v2/articles without credentials")
        try expect("Content-Type", sent?.fields["content-type"], equals: "application/json")
        try expect(
            "body", sent?.body ?? "",
            equals: #"{"meta":{"draft":true,"image":null,"ratio":1.5,"tags":["a",1]},"title":"some-title"}"#)
    }

    static let curl = Step("A cURL command without secrets") { server in
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/articles"
            $0.authorization = .bearer("s3cret-token")
            $0.body = ["title": "it's new", "password": "s3cret-password"]
        }
        let line = request.cURL()

        tell(line)
        let target = "'\(URLRequest.Config.defaultHost)/articles'"
        try expect(
            "line", line,
            shows: ["'Authorization: ***'", #"'{"password":"***","title":"it'\''s new"}'"#, target],
            hides: ["s3cret"])
        try await expect("sent", server.received.map(\.summary), equals: [])
    }
}

private struct Page: Decodable {
    let page: Int
    let articles: [Article]
}
