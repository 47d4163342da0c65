import Foundation
import Testing
import URLConfig

/// Header fields: lists, duplicates (RFC 9110 §5.3, §5.6.1) and fields that are not the caller's.
@Suite struct HTTPFieldsArrayTests {
    private func request(_ configure: (inout HTTPFields) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example")) { configure(&$0.headers) }
    }

    @Test func `a list sets one combined field`() {
        let request = request { $0[.acceptLanguage] = ["en-US", "zh-Hans-CN"] }
        #expect(request.allHTTPHeaderFields == ["Accept-Language": "en-US, zh-Hans-CN"])
    }

    @Test func `a list replaces what was there, and nil or an empty list removes it`() {
        var fields: HTTPFields = [.accept: "a/b", .acceptLanguage: "de"]
        fields[.acceptLanguage] = ["en", "fr"]
        #expect(fields[values: .acceptLanguage] == ["en", "fr"])
        fields[.acceptLanguage] = [] as [String]
        fields[.accept] = nil as [String]?
        #expect(fields.isEmpty)
    }

    @Test(arguments: [1, 8, 64, 65, 200])
    func `fields of one name become one, under the name that comes first`(count: Int) throws {
        let names = try ["X-A", "x-b", "x-a", "X-B", "Cookie"].map { try #require(HTTPField.Name($0)) }
        var expected: [String: [String]] = [:]
        let request = request { fields in
            for index in 0..<count {
                let name = names[index % names.count]
                fields.append(HTTPField(name: name, value: "\(index)"))
                expected[["X-A", "x-b", "X-A", "x-b", "Cookie"][index % names.count], default: []].append("\(index)")
            }
        }
        let fields = Dictionary(
            uniqueKeysWithValues: expected.map { ($0, $1.joined(separator: $0 == "Cookie" ? "; " : ", ")) })
        #expect(request.allHTTPHeaderFields == fields)
    }

    @Test(arguments: ["\u{0}", "\u{1}", "\u{8}", "\u{A}", "\u{B}", "\u{C}", "\u{D}", "\u{1B}", "\u{1F}", "\u{7F}"])
    func `a control character in a value becomes a space`(character: String) {
        #expect(request { $0[.accept] = "a\(character)b" }.allHTTPHeaderFields == ["Accept": "a b"])
    }

    @Test func `a tab in a value stays`() {
        #expect(request { $0[.accept] = "a\tb" }.allHTTPHeaderFields == ["Accept": "a\tb"])
    }

    @Test func `reading gives the combined text unless a list is asked for`() {
        var fields = HTTPFields()
        fields[.accept] = ["a/b", "c/d"]
        let text = fields[.accept]
        let list: [String]? = fields[.accept]
        let absent: [String]? = fields[.acceptLanguage]
        #expect(text == "a/b, c/d")
        #expect(list == ["a/b", "c/d"])
        #expect(absent == nil)
    }

    @Test func `fields with one name are combined in order, whatever their case`() throws {
        let names = try ["X-Tag", "x-tag", "X-TAG"].map { try #require(HTTPField.Name($0)) }
        let request = request {
            $0[.accept] = "a/b"
            for (index, name) in names.enumerated() { $0.append(HTTPField(name: name, value: "\(index)")) }
        }
        #expect(request.allHTTPHeaderFields?.count == 2)
        #expect(request.field("X-Tag") == "0, 1, 2")
        #expect(request.field("Accept") == "a/b")
    }

    @Test func `cookies are combined as cookies are`() {
        let request = request {
            $0[.cookie] = ["a=1", "b=2"]
            $0.append(HTTPField(name: .cookie, value: "c=3"))
        }
        #expect(request.field("Cookie") == "a=1; b=2; c=3")
    }

    @Test func `a line break in a value does not start another field`() {
        let request = request { $0[.accept] = "a/b\r\nX-Evil: 1" }
        #expect(request.allHTTPHeaderFields?.keys.sorted() == ["Accept"])
        #expect(request.field("Accept")?.utf8.contains { $0 == 13 || $0 == 10 } == false)
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING", "Host", "hOST"])
    func `fields that are the session's to set are refused`(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let config = URLRequest.Config(host: "https://h.example") { $0.headers[name] = "7" }
        #expect(config.refusal?.code == .invalidRequest)
        #expect(config.refusal?.reason.contains(name.rawName) == true)
        #expect(config.refusal?.reason.contains("remove") == true)
    }

    @Test(arguments: ["Hose", "Content-Lengtx", "Transfer-Encodinx"])
    func `names with the length of a framing field's name are not refused`(text: String) throws {
        let name = try #require(HTTPField.Name(text))
        #expect(request { $0[name] = "7" }.field(text) == "7")
    }
}
