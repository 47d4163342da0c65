import Foundation
import Testing

@testable import URLConfig

/// The time for any input grows with its length, not with the square of its length.
@Suite(.oneAtATime) struct LinearTimeTests {
    /// Combining marks, which Swift sorts before it compares two strings.
    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count / 4) }

    private func cURL(_ body: String, _ contentType: String) {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.httpMethod = "POST"
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body.utf8)
        #expect(!request.cURL().isEmpty && !request.bodyString.isEmpty)
    }

    @Test(arguments: [("--b", "b"), ("--", "\"\""), ("--b\r\n", "b")])
    func `a multipart body of many boundaries`(part: String, boundary: String) {
        let growth = growth(from: 150_000) { count in
            let body = String(repeating: part, count: count / part.utf8.count)
            cURL(body, "multipart/form-data; boundary=\(boundary)")
        }
        #expect(growth < 24)
    }

    @Test func `a multipart body with a boundary as long as itself`() {
        let growth = growth(from: 25_000) { count in
            let boundary = String(repeating: "-", count: count / 2) + "x"
            cURL(String(repeating: "-", count: count), "multipart/form-data; boundary=\(boundary)")
        }
        #expect(growth < 24)
    }

    @Test(arguments: [
        " ", "; name=\"", "Content-Type:", "Content-Type: a/b;", "\t", "\"", "; name=a", ";a=\"b\";",
    ])
    func `the header of a part`(text: String) {
        let growth = growth(from: 25_000) { count in
            let header = String(repeating: text, count: count / text.utf8.count)
            let body = "--b\r\nContent-Disposition: form-data;\(header)\r\n\r\nx\r\n--b--"
            cURL(body, "multipart/form-data; boundary=b")
        }
        #expect(growth < 24)
    }

    @Test(arguments: [
        ("{\"a", "\": 1}", "application/json"), ("a", "=1", "application/x-www-form-urlencoded"), ("a", "", "no type"),
        ("{\"a\": \"http://h?a", "=1&token=1\"}", "application/json"),
        ("{\"a\": \"token=1&a", "=1\"}", "application/json"),
    ])
    func `combining marks in a name`(start: String, end: String, contentType: String) {
        let growth = growth(from: 12_000) { count in cURL(start + Self.marks(count) + end, contentType) }
        #expect(growth < 24)
    }

    @Test func `combining marks in a date and in a media type`() {
        let growth = growth(from: 25_000) { count in
            let marks = Self.marks(count)
            let response = DataResponse(
                request: .with(.init(host: "http://h")),
                headerFields: [.retryAfter: marks, .lastModified: "Sun" + marks])
            #expect(response.retryAfter == nil && response.headerFields[date: .lastModified] == nil)
            let type = MediaType.init("text/plain; charset=\"\(marks)\"")
            #expect(type == type && type != .text && type?.hashValue == type?.hashValue)
        }
        #expect(growth < 24)
    }

    @Test(arguments: ["a=1; Domain=", "a=1; Path=/", "a=1; Path=", "a=1; ", "", "a="])
    func `combining marks in a cookie`(start: String) {
        let growth = growth(from: 25_000) { count in
            var response = DataResponse(request: URLRequest(url: URL(fileURLWithPath: "/")))
            response.url = URL(string: "https://www.example.com")
            response.headerFields[.setCookie] = start + Self.marks(count) + "=1"
            #expect(response.cookies.count <= 1)
        }
        #expect(growth < 24)
    }

    @Test(arguments: ["<a>; rel=", "<a>; rel=next; ", "<a>; rel=next; title="])
    func `combining marks in a link`(start: String) throws {
        let name = try #require(HTTPField.Name("Link"))
        let growth = growth(from: 25_000) { count in
            var response = DataResponse(request: URLRequest(url: URL(fileURLWithPath: "/")))
            response.headerFields[name] = start + Self.marks(count)
            #expect(response.links["prev"] == nil)
        }
        #expect(growth < 24)
    }

    @Test func `combining marks in a character set`() {
        let growth = growth(from: 25_000) { count in
            let type = "text/plain; charset=\"\(Self.marks(count))\""
            let response = DataResponse(
                request: URLRequest(url: URL(fileURLWithPath: "/")), headerFields: [.contentType: type],
                data: Data("a".utf8))
            #expect((try? response.text()) == nil)
            #expect(!response.hasContentType(.text))
        }
        #expect(growth < 24)
    }

    @Test(arguments: [true, false])
    func `request fields, of one name and of many`(isOne: Bool) throws {
        let growth = try growth(from: 1000) { count in
            var fields = HTTPFields()
            for index in 0..<count {
                let name = try #require(HTTPField.Name(isOne ? "X-A" : "X-\(index)"))
                fields.append(HTTPField(name: name, value: "1"))
            }
            #expect(try fields.combined().count == (isOne ? 1 : count))
        }
        #expect(growth < 24)
    }
}
