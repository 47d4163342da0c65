import URLConfig

/// Path with a value, two query items, one of which needs encoding, and three header fields.
///
/// The preset of a host has the header fields, as presets do; the second row sets all of them in the call.
func buildGet() {
    let rivals: [(String, () -> URLRequest)] = [
        ("by hand", { GetRequest.byHand(userID: 4711, search: "swift & friends") }), ("floor", { GetRequest.floor() }),
    ]
    build(
        "Build a GET",
        ours: { GetRequest.ours(userID: 4711, search: "swift & friends") },
        rivals: zip(rivals, [0.30, 1.6]).map { ($0.0, $1, $0.1) })
    build(
        "Build a GET, fields set in the call",
        ours: { GetRequest.oursWithFields(userID: 4711, search: "swift & friends") },
        rivals: zip(rivals, [0.40, nil]).map { ($0.0, $1, $0.1) })
}

extension URLRequest.Config {
    fileprivate static let apiWithFields = Self(host: "https://api.example.com/v2") {
        $0.headers[.accept] = "application/json"
        $0.headers[.acceptLanguage] = "en-US"
        $0.headers[.userAgent] = "Benchmark/1.0"
    }
}

// Not inlined, so that the compiler knows neither the values nor that they never change.
private enum GetRequest {
    @inline(never)
    static func ours(userID: Int, search: String) -> URLRequest {
        URLRequest.with(.apiWithFields) {
            $0.path = "/users/\(userID)/articles"
            $0.query["search"] = search
            $0.query["page"] = 2
        }
    }

    @inline(never)
    static func oursWithFields(userID: Int, search: String) -> URLRequest {
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
