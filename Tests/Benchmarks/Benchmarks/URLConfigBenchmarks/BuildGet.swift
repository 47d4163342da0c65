import URLConfig

/// Path with a value, two query items, one of which needs encoding, and three header fields.
func buildGet() {
    build(
        "Build a GET",
        ours: { GetRequest.ours(userID: 4711, search: "swift & friends") },
        rivals: [
            ("by hand", 0.45, { GetRequest.byHand(userID: 4711, search: "swift & friends") }),
            ("floor", 1.6, { GetRequest.floor() }),
        ])
}

// Not inlined, so that the compiler knows neither the values nor that they never change.
private enum GetRequest {
    @inline(never)
    static func ours(userID: Int, search: String) -> URLRequest {
        URLRequest.with(.api) {
            $0.path = "/users/\(userID)/articles"
            $0.query["search"] = search
            $0.query["page"] = 2
            $0.headers[.accept] = "application/json"
            $0.headers[.acceptLanguage] = "en-US"
            $0.headers[.userAgent] = "Benchmark/1.0"
        }
    }

    @inline(never)
    static func byHand(userID: Int, search: String) -> URLRequest {
        var components = URLComponents(string: "https://api.example.com/v2/users/\(userID)/articles")!
        components.queryItems = [
            URLQueryItem(name: "search", value: search), URLQueryItem(name: "page", value: "\(2)"),
        ]
        var request = URLRequest(url: components.url!)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("en-US", forHTTPHeaderField: "Accept-Language")
        request.setValue("Benchmark/1.0", forHTTPHeaderField: "User-Agent")
        return request
    }

    /// What a `URLRequest` costs when all its text is ready.
    @inline(never)
    static func floor() -> URLRequest {
        let text = "https://api.example.com/v2/users/4711/articles?search=swift%20%26%20friends&page=2"
        var request = URLRequest(url: URL(string: text)!)
        request.allHTTPHeaderFields = [
            "Accept": "application/json", "Accept-Language": "en-US", "User-Agent": "Benchmark/1.0",
        ]
        return request
    }
}
