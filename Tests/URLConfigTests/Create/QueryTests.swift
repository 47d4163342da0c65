import Foundation
import Testing
import URLConfig

/// Query items: their order and how they are written (RFC 3986 §2.3, §3.4).
@Suite struct QueryTests {
    private func text(_ configure: (inout URLRequest.Query) -> Void) -> String {
        let request = URLRequest.with(.init(host: "https://h.example")) { configure(&$0.query) }
        return String(request.urlText.dropFirst("https://h.example?".count))
    }

    @Test func `items keep the order in which they were set`() {
        let query = text {
            $0["b"] = 1
            $0["a"] = 2
            $0.append("b", 3)
        }
        #expect(query == "b=1&a=2&b=3")
    }

    @Test func `setting a name replaces all under it in the first's place`() {
        let query = text {
            $0 = ["a": 1, "b": 2, "a": 3, "c": 4, "a": 5]
            $0["a"] = "x"
        }
        #expect(query == "a=x&b=2&c=4")
    }

    @Test func `nil removes all under a name`() {
        let none: Int? = nil
        let query = text {
            $0 = ["a": 1, "b": 2, "a": 3, "c": 4, "d": none]
            $0["a"] = nil
            $0["c"] = none
            $0["absent"] = nil
        }
        #expect(query == "b=2")
    }

    @Test func `names differ by case`() {
        let query = text {
            $0["a"] = 1
            $0["A"] = 2
        }
        #expect(query == "a=1&A=2")
    }

    @Test func `a name reads as its first value`() {
        let query: URLRequest.Query = ["a": 1, "a": 2, "list": ["x", "y"], "none": [Int]()]
        let values = [query["a"] as String?, query["list"], query["none"], query["absent"]]
        #expect(values == ["1", "x", nil, nil])
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("a#b?c/d", "a%23b%3Fc%2Fd"), ("100%", "100%25"),
        ("%41", "%2541"), ("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("\u{1F600}", "%F0%9F%98%80"), ("", ""),
        ("-._~", "-._~"), ("!$'()*,;:@[]", "%21%24%27%28%29%2A%2C%3B%3A%40%5B%5D"), ("\u{0}\r\n", "%00%0D%0A"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ])
    func `names and values are encoded but for unreserved characters`(plain: String, encoded: String) {
        #expect(text { $0["q"] = plain } == "q=" + encoded)
        #expect(text { $0[plain] = "v" } == encoded + "=v")
        #expect(text { $0[plain] = [plain, plain] } == "\(encoded)=\(encoded)&\(encoded)=\(encoded)")
    }

    @Test(
        arguments: [
            (.repeatedKey, "a=0&i%20d=1&i%20d=2%2C3&z=9"), (.brackets, "a=0&i%20d%5B%5D=1&i%20d%5B%5D=2%2C3&z=9"),
            (.comma, "a=0&i%20d=1,2%2C3&z=9"),
        ] as [(URLRequest.Query.ArrayStyle, String)])
    func `a list is written in the style that is set`(style: URLRequest.Query.ArrayStyle, expected: String) {
        let query = text {
            $0.arrayStyle = style
            $0["a"] = 0
            $0["i d"] = ["1", "2,3"]
            $0["z"] = 9
        }
        #expect(query == expected)
    }

    @Test(arguments: [.repeatedKey, .brackets, .comma] as [URLRequest.Query.ArrayStyle])
    func `an empty list writes nothing`(style: URLRequest.Query.ArrayStyle) {
        let query = text {
            $0.arrayStyle = style
            $0["first"] = [String]()
            $0["a"] = 1
            $0["ids"] = [Int]()
            $0["z"] = [2]
            $0["last"] = [Int]()
        }
        #expect(query == (style == .brackets ? "a=1&z%5B%5D=2" : "a=1&z=2"))
    }

    @Test func `another query's items are added after these`() {
        let query = text {
            $0["a"] = 1
            $0.append(contentsOf: ["a": 2, "b": ["x", "y"]])
        }
        #expect(query == "a=1&a=2&b=x&b=y")
    }

    @Test func `a literal keeps its order and its repeated names where it is appended`() {
        #expect(text { $0.append(contentsOf: ["b": 1, "a": 2, "b": 3]) } == "b=1&a=2&b=3")
    }
}
