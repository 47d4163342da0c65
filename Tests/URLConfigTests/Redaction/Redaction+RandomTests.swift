import Testing

@testable import URLConfig

/// Random texts with a secret under a hidden name: the secret is never shown, and other text stays.
@Suite struct RedactionRandomTests {
    private static let secret = "s3cr3t"
    private static let hidden = [
        "token", "access_token", "API-Key", "user[password]", "Client Secret", "sig", "Cookie",
    ]
    private static let plain = ["a", "page", "title", "tokenizer", "x y", "\u{E9}\u{1F600}", "q\"\\/\n\u{1}", ""]

    private static func json(_ depth: Int, _ hides: Bool, _ random: inout SeededGenerator) -> Any {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0: return NSNull()
        case 1: return Bool.random(using: &random)
        case 2: return Int.random(in: -1000...1000, using: &random)
        case 3: return Double.random(in: -1...1, using: &random)
        case 4: return (plain + ["{\"", "[,]", "}", "\"token\":"]).randomElement(using: &random) ?? ""
        case 5:
            return (0..<Int.random(in: 0...3, using: &random)).map { _ in json(depth - 1, hides, &random) }
        default:
            var object: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let isHidden = hides && Bool.random(using: &random)
                let name = (isHidden ? hidden : plain).randomElement(using: &random) ?? ""
                // Objects under a compound name are shown.
                object[name] =
                    isHidden ? (name.count < 7 ? secretValue(&random) : secret) : json(depth - 1, hides, &random)
            }
            return object
        }
    }

    private static func secretValue(_ random: inout SeededGenerator) -> Any {
        let text = ["\(secret)", "\(secret)\"}", "\\\(secret)\\", ",\(secret):[", "\n\(secret)"].randomElement(
            using: &random)
        let value = text ?? secret
        return [value, [value, ["x": value]], ["a": [value], "b": 1]].randomElement(using: &random) ?? value
    }

    @Test(arguments: 0..<300)
    func `a secret in JSON is never shown`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = [Self.json(4, true, &random), ["token": Self.secretValue(&random)]]
        let data = try JSONSerialization.data(
            withJSONObject: value, options: seed.isMultiple(of: 2) ? .prettyPrinted : [])
        let cut = data.prefix(Int.random(in: 0...data.count, using: &random))
        for data in [data, cut] {
            #expect(!Redaction.standard.body(data, .json).contains(Self.secret))
            #expect(!String(decoding: Redaction.standard.sentBody(data, .json), as: UTF8.self).contains(Self.secret))
        }
        let sent = Redaction.standard.sentBody(data, .json)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: sent) }
        #expect(throws: Never.self) {
            try JSONSerialization.jsonObject(
                with: Data(Redaction.standard.body(data, .json).utf8))
        }
    }

    @Test(arguments: 0..<300)
    func `JSON without a secret reads back equal`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 1000)
        let value = [Self.json(5, false, &random)]
        let data = try JSONSerialization.data(withJSONObject: value)
        let shown = Redaction.standard.body(data, .json)
        let read = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? NSArray
        #expect(read == (try JSONSerialization.jsonObject(with: data) as? NSArray))
        #expect(Redaction.standard.sentBody(data, .json) == data)
    }

    @Test(arguments: 0..<300)
    func `a secret in a query or a form is never shown`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 2000)
        var items: URLRequest.Query = [:]
        var plain: [String] = []
        for index in 0..<8 {
            if Bool.random(using: &random) {
                let value = Self.secret + (["", "&", "=", ";", "?#", "\u{301}"].randomElement(using: &random) ?? "")
                items.append(Self.hidden.randomElement(using: &random) ?? "", value)
            } else {
                plain.append("v\(index)")
                items.append(Self.plain.randomElement(using: &random) ?? "", "v\(index)")
            }
        }
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.method = .post
            $0.query = items
            $0.body = .form(items)
        }
        for text in [request.urlString, request.bodyString, request.cURL()] {
            #expect(!text.contains(Self.secret))
            #expect(plain.allSatisfy { text.contains($0) })
        }
    }
}
