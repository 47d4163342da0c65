import URLConfig

extension URLRequest.Config {
    /// An app names its host here: `static let api = Self(host: "https://api.example.com/v2") { … }`.
    ///
    /// This preset uses the default host, because the server of the tour has another port each time.
    static var api: Self {
        Self().with {
            $0.headers[.accept] = "application/json"
            $0.timeout = .seconds(10)
        }
    }
}

extension URLSession.Config {
    /// The preset of the host, which no call has to name.
    static let api = Self().with { $0.decoder = JSONDecoder.api }
}

extension JSONDecoder {
    static let api = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()
}
