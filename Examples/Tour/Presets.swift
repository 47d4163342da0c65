import URLConfig

extension URLRequest.Config {
    /// An app would name its host: `static let api = Self(host: "https://api.example.com/v2") { … }`.
    ///
    /// This one has the default host, because the tour's server listens on another port each time.
    static var api: Self {
        Self().with {
            $0.headers[.accept] = "application/json"
            $0.timeout = .seconds(10)
        }
    }
}

extension JSONDecoder {
    static let custom = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()
}
