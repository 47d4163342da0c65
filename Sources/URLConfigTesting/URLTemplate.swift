import URLConfig

/// A URL with names in place of some segments of its path.
struct URLTemplate: Sendable {
    private let text: String
    private var scheme: String?
    private var host: String?
    private var port: Int?
    private let path: PathTemplate
    private var query: [URLQueryItem] = []

    /// - Throws: ``StubMistake`` for a brace without its partner, two equal names, or what is no URL.
    init(_ text: String) throws(StubMistake) {
        self.text = text
        // Braces are not allowed in a URL, nor are brackets in its query.
        var encoded = text.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(of: "}", with: "%7D")
        if let query = encoded.firstIndex(of: "?") {
            let items = encoded[query...].replacingOccurrences(of: "[", with: "%5B")
            encoded = encoded[..<query] + items.replacingOccurrences(of: "]", with: "%5D")
        }
        guard let parts = URLComponents(string: encoded), parts.fragment == nil else {
            throw StubMistake("the template is no URL")
        }
        // The host as the URL of a request has it: without the brackets of IPv6, and in ASCII.
        (scheme, host, port) = (parts.scheme?.lowercased(), parts.url?.host()?.lowercased(), parts.port)
        guard scheme == nil || host?.isEmpty == false, host != nil || parts.percentEncodedPath.hasPrefix("/") else {
            throw StubMistake("the template begins neither with a path, such as /users, nor with a scheme and a host")
        }
        query = parts.queryItems ?? []
        do {
            path = try PathTemplate(parts.percentEncodedPath)
        } catch {
            throw StubMistake(error.reason)
        }
    }

    /// Compares the URL of a request.
    ///
    /// - Returns: The values of the names, what differs, and how near the path is.
    func match(_ request: HTTPStubs.Request) -> (values: [String: String], differences: [String], distance: Int) {
        var differences: [String] = []
        func compare(_ what: String, _ sent: String?, _ expected: String?) {
            guard let expected, sent?.lowercased() != expected else { return }
            differences.append("\(what) \(sent ?? "none"), expected \(expected)")
        }
        let url = request.url
        compare("scheme", url.scheme, scheme)
        compare("host", url.host(), host)
        let standard = ["http": 80, "https": 443][url.scheme?.lowercased() ?? ""] ?? 0
        if host != nil, url.port ?? standard != port ?? standard {
            differences.append("port \(url.port ?? standard), expected \(port ?? standard)")
        }
        let (values, fits, distance) = path.match(url.path(percentEncoded: true))
        if !fits { differences.append("path \(request.shownPath), expected \(shownPath)") }
        let items = request.query
        for item in query where !items.contains(item) {
            let other = items.first { $0.name == item.name }
            let found = request.shown(item.name, other.map { $0.value ?? "" })
            differences.append("query \(found), expected \(request.shown(item.name, item.value ?? ""))")
        }
        return (values, differences, distance)
    }

    /// The path as the test has written it.
    private var shownPath: String {
        let start = text.range(of: "://").map { text[$0.upperBound...].drop { $0 != "/" } } ?? text[...]
        return String(start.prefix { $0 != "?" })
    }
}

/// JSON as a tree, for comparisons.
struct JSONTree {
    /// In place of a part of what is hidden as a whole.
    private static let hidden = "***"

    private let value: Any
    /// The same part of the JSON without its secrets.
    private let shown: Any

    private init(_ value: Any, shown: Any?) { (self.value, self.shown) = (value, shown ?? Self.hidden) }

    init?(_ data: Data) {
        guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else { return nil }
        self.init(value, shown: value)
    }

    private var members: [String: Self]? {
        guard let members = value as? [String: Any] else { return nil }
        let shown = shown as? [String: Any]
        return Dictionary(uniqueKeysWithValues: members.map { ($0, Self($1, shown: shown?[$0])) })
    }

    private var elements: [Self]? {
        guard let elements = value as? [Any] else { return nil }
        let shown = shown as? [Any]
        return elements.enumerated().map { index, element in
            Self(element, shown: shown?.count == elements.count ? shown?[index] : nil)
        }
    }

    /// The first place at which a part of this JSON is missing or differs; `nil` if there is none.
    ///
    /// - Parameter hiding: Returns JSON without its secrets.
    func difference(from expected: Self, hiding: (Data) -> Data) -> String? {
        func hidden(_ tree: Self) -> Self { Self(tree.value, shown: Self(hiding(Data(tree.text.utf8)))?.value) }
        // Most bodies fit, and need not be searched for secrets.
        let isEqual = Self.difference(self, expected, "") == nil
        return isEqual ? nil : Self.difference(hidden(self), hidden(expected), "")
    }

    private static func difference(_ sent: Self, _ expected: Self, _ path: String) -> String? {
        if let expected = expected.members, let members = sent.members {
            for (name, expected) in expected.sorted(by: { $0.key < $1.key }) {
                let path = path.isEmpty ? name : "\(path).\(name)"
                guard let member = members[name] else { return "\(path) is missing" }
                if let difference = difference(member, expected, path) { return difference }
            }
            return nil
        }
        if let expected = expected.elements, let elements = sent.elements, elements.count == expected.count {
            for (index, pair) in zip(elements, expected).enumerated() {
                if let difference = difference(pair.0, pair.1, "\(path)[\(index)]") { return difference }
            }
            return nil
        }
        if text(sent.value) == text(expected.value) { return nil }
        return "\(path.isEmpty ? "it" : path) is \(text(sent.shown)), expected \(text(expected.shown))"
    }

    /// The text with sorted members, so that equal values have equal texts.
    static func text(_ value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
    }

    /// The text with sorted members.
    var text: String { Self.text(value) }
}
