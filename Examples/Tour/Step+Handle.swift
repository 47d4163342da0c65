import URLConfig

extension Step {
    static let notFound = Step("A 404, handled before anything is decoded") { server in
        let name = "what/is/new?"
        let response = try await URLSession.shared.response(for: .with(.api) { $0.path = "/articles/\(name)" })
        let article = response.status == .notFound ? nil : try response.decode(Article.self)

        tell("\(response.status.code) is not an error: \(try response.text())")
        try expect("status", response.status, equals: .notFound)
        try expect("article", article, equals: nil)
        try expect("body", response.text(), equals: #"{"message": "there is nothing here"}"#)
        try await expect(
            "sent", server.received.map(\.summary),
            equals: ["GET /v2/articles/what%2Fis%2Fnew%3F without credentials"])
    }

    static let decoder = Step("The decoder of the host's preset, and another one") { server in
        let request = URLRequest.with(.api) { $0.path = "/articles/3/statistics" }
        let response = try await URLSession.shared.response(for: request)
        let statistics: Statistics = try response.decode()
        var failure: RequestError?
        do {
            _ = try response.decode(Statistics.self, decoder: JSONDecoder())
        } catch let error as RequestError where error.code == .decoding {
            failure = error
        }

        tell("The decoder of the preset makes \(statistics)")
        tell("A plain decoder fails: \(failure.map(String.init(describing:)) ?? "it does not")")
        let expected = Statistics(viewCount: 12, lastViewed: Date(timeIntervalSince1970: 1_769_860_800))
        try expect("statistics", statistics, equals: expected)
        try expect("error of the plain decoder", failure?.reason ?? "", shows: ["viewCount is missing"], hides: [])
        try await expect("sent", server.received.count, equals: 1)
    }
}

struct Statistics: Decodable, Equatable {
    let viewCount: Int
    let lastViewed: Date
}

struct Article: Decodable, Equatable {
    let id: Int
    let title: String
}
