import URLConfig

extension Step {
    static let notFound = Step("A 404, handled before anything is decoded") { server in
        let name = "what/is/new?"
        let response = try await URLSession.shared.response(for: .with(.api) { $0.path = "/articles/\(name)" })
        let article = response.status == .notFound ? nil : try response.decode(Article.self)

        tell("\(response.status.code) is no error: \(try response.text())")
        try expect("status", response.status, equals: .notFound)
        try expect("article", article, equals: nil)
        try expect("body", response.text(), equals: #"{"message": "there is nothing here"}"#)
        try await expect(
            "sent", server.received.map(\.summary),
            equals: ["GET /v2/articles/what%2Fis%2Fnew%3F without credentials"])
    }

    static let swappedDecoder = Step("Another decoder, for one response or for all") { server in
        let response = try await URLSession.shared.response(for: .with(.api) { $0.path = "/articles/3/statistics" })
        let once: Statistics = try response.decode(decoder: .custom)
        DataResponse.Config.defaultDecoder = JSONDecoder.custom
        defer { DataResponse.Config.defaultDecoder = JSONDecoder() }
        let always: Statistics = try response.decode()

        tell("\(response.status.code): \(try response.text()) gives\n\(once)")
        let expected = Statistics(viewCount: 12, lastViewed: Date(timeIntervalSince1970: 1_769_860_800))
        try expect("decoded once", once, equals: expected)
        try expect("decoded by default", always, equals: expected)
        try await expect("sent", server.received.count, equals: 1)

        var failure: RequestError?
        do {
            _ = try response.decode(Statistics.self, decoder: JSONDecoder())
        } catch let error as RequestError {
            failure = error
        }
        tell("The usual decoder says: \(failure.map(String.init(describing:)) ?? "nothing")")
        try expect("error of the usual decoder", failure?.code, equals: .decoding)
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
