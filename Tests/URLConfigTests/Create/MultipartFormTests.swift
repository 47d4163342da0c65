import FlyingFox
import Foundation
import Testing

@testable import URLConfig

/// Forms as `multipart/form-data`: RFC 7578, and WHATWG HTML §4.10.21.8 for names.
@Suite struct MultipartFormTests {
    private let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }

    private func text(_ form: MultipartForm) -> String? {
        URLRequest.with(config) { $0.body = .multipart(form) }.bodyText
    }

    @Test func `the bytes are those of RFC 7578`() {
        var form = MultipartForm()
        form.append("title", "Holi\u{E9}\r\nday")
        form.append(URLRequest.File(key: "photo", name: "beach.png", data: Data("\r\n--".utf8), mimeType: .png))
        form.append(URLRequest.File(key: "raw", name: "x", data: Data()))
        let request = URLRequest.with(config) { $0.body = .multipart(form) }
        #expect(request.field("Content-Type") == "multipart/form-data; boundary=\(form.boundary)")
        let boundary = form.boundary
        let expected = [
            "--\(boundary)", "Content-Disposition: form-data; name=\"title\"", "", "Holi\u{E9}\r\nday",
            "--\(boundary)", "Content-Disposition: form-data; name=\"photo\"; filename=\"beach.png\"",
            "Content-Type: image/png", "", "\r\n--",
            "--\(boundary)", "Content-Disposition: form-data; name=\"raw\"; filename=\"x\"",
            "Content-Type: application/octet-stream", "", "",
            "--\(boundary)--", "",
        ].joined(separator: "\r\n")
        #expect(request.httpBody == Data(expected.utf8))
    }

    @Test func `bytes of a file are sent as they are`() {
        let bytes = Data(0...255)
        var form = MultipartForm()
        form.append(URLRequest.File(key: "f", name: "f", data: bytes))
        let body = URLRequest.with(config) { $0.body = .multipart(form) }.httpBody
        #expect(body?.range(of: Data("\r\n\r\n".utf8) + bytes + Data("\r\n--\(form.boundary)--\r\n".utf8)) != nil)
    }

    @Test func `an empty form is its last delimiter`() {
        let form = MultipartForm()
        #expect(text(form) == "--\(form.boundary)--\r\n")
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0Ab"), ("a\rb", "a%0Db"), ("\n\r", "%0A%0D"),
        ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"), ("100% \\ ;'", "100% \\ ;'"), ("\"\u{301}", "%22\u{301}"),
        ("a%22", "a%22"),
        ("x\"\r\nContent-Type: text/html\r\n\r\n", "x%22%0D%0AContent-Type: text/html%0D%0A%0D%0A"),
    ])
    func `names cannot end their header field`(plain: String, name: String) {
        var form = MultipartForm()
        form.append(plain, "v")
        form.append(URLRequest.File(key: plain, name: plain, data: Data("d".utf8)))
        let boundary = form.boundary
        let expected =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\nv\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\nd\r\n--\(boundary)--\r\n"
        #expect(text(form).map { Data($0.utf8) } == Data(expected.utf8))
    }

    /// The header fields and the content of each part.
    private func parts(_ form: MultipartForm, _ config: URLRequest.Config? = nil) -> [String] {
        let text = URLRequest.with(config ?? self.config) { $0.body = .multipart(form) }.bodyText ?? ""
        return text.components(separatedBy: "--\(form.boundary)").dropFirst().dropLast().map {
            $0.trimmingCharacters(in: .whitespacesAndNewlines).replacingOccurrences(of: "\r\n", with: "|")
        }
    }

    private enum Size: String, QueryValue { case small }

    @Test func `a field takes any value that a query takes, and a list becomes several parts`() {
        var form = MultipartForm()
        form.append("count", 7)
        form.append("size", Size.small)
        form.append("tags", ["a", "b"])
        form.append("none", [String]())
        #expect(
            parts(form) == [
                "Content-Disposition: form-data; name=\"count\"||7",
                "Content-Disposition: form-data; name=\"size\"||small",
                "Content-Disposition: form-data; name=\"tags\"||a",
                "Content-Disposition: form-data; name=\"tags\"||b",
            ])
    }

    @Test func `bytes without a file name are a part with their media type`() {
        var form = MultipartForm()
        var file = URLRequest.File(key: "raw", data: Data("d".utf8))
        form.append(file)
        file.key = "csv"
        file.mimeType = "text/csv"
        form.append(file)
        #expect(
            parts(form) == [
                "Content-Disposition: form-data; name=\"raw\"|Content-Type: application/octet-stream||d",
                "Content-Disposition: form-data; name=\"csv\"|Content-Type: text/csv||d",
            ])
    }

    private struct Place: Encodable { var cityName = "Rome", visitedAt = Date(timeIntervalSince1970: 0), ratio = 1.0 }

    @Test func `a model becomes a JSON part, by the encoder of when the request is built`() {
        var form = MultipartForm()
        form.append("place", json: Place())
        form.append("literal", json: ["theName": "x", "n": .null, "k": nil] as RequestBody.JSON)
        let snake = config.with {
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            $0.encoder.dateEncodingStrategy = .iso8601
        }
        let head = "Content-Disposition: form-data; name"
        #expect(
            parts(form, snake) == [
                "\(head)=\"place\"|Content-Type: application/json||"
                    + #"{"city_name":"Rome","ratio":1,"visited_at":"1970-01-01T00:00:00Z"}"#,
                "\(head)=\"literal\"|Content-Type: application/json||" + #"{"n":null,"theName":"x"}"#,
            ])
        #expect(parts(form).first?.contains(#""cityName":"Rome""#) == true)
    }

    @Test func `a model that cannot be encoded is refused, and the error names its part`() {
        var form = MultipartForm()
        form.append("fine", json: Place())
        form.append("place", json: Place(ratio: .nan))
        let error = config.with { $0.body = .multipart(form) }.refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.hasPrefix("body: part 'place': ratio: ") == true, "\(error?.reason ?? "")")
        #expect((error?.underlyingError as? RequestError)?.underlyingError is EncodingError)
    }

    /// RFC 2046 §5.1.1 allows at most 70 characters; these characters need no quotes in a parameter.
    @Test func `no two forms have one boundary, and each is a token with 128 random bits`() {
        let boundaries = (0..<2000).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == boundaries.count)
        for boundary in boundaries {
            #expect(boundary.utf8.count <= 70)
            #expect(boundary.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        }
        // 25 digits of base 36 have 129 bits. A random number may be shorter, but the longest of many is not.
        let prefix = "URLConfig-"
        #expect(boundaries.allSatisfy { $0.hasPrefix(prefix) })
        #expect(boundaries.map(\.utf8.count).max().map { $0 - prefix.utf8.count } ?? 0 >= 25)
    }

    @Test func `a server receives the boundary and every byte`() async throws {
        try await Loopback.serving { request in
            let type = request.headers[.contentType] ?? ""
            return FlyingFox.HTTPResponse(statusCode: .ok, body: Data("\(type)\n".utf8) + (try await request.bodyData))
        } _: { server in
            var form = MultipartForm()
            form.append("count", 7)
            form.append("place", json: Place())
            form.append(URLRequest.File(key: "raw", data: Data(0...255)))
            let request = URLRequest.with(server.config) {
                $0.method = .post
                $0.body = .multipart(form)
            }
            let received = try await server.session.response(for: request).data
            let sent = try #require(request.httpBody)
            #expect(received == Data("multipart/form-data; boundary=\(form.boundary)\n".utf8) + sent)
        }
    }

    @Test func `a content type of the caller's own is refused`() {
        let own = config.with {
            $0.headers[.contentType] = "multipart/form-data"
            $0.body = .multipart(MultipartForm())
        }
        #expect(own.refusal?.code == .invalidRequest)
        #expect(own.refusal?.reason.contains("Content-Type") == true)
    }

    @Test func `nil adds no field`() throws {
        var form = MultipartForm()
        form.append("text", nil as String?)
        form.append("place", json: nil as [String: Int]?)
        #expect(try form.data(JSONEncoder()) == Data("--\(form.boundary)--\r\n".utf8))
    }
}
