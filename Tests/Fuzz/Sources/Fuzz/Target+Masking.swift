import Foundation
import HTTPTypes

@testable import URLConfig

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let secret = "S3cr3tT0kenV4lue9876"

/// Stops if a text that is shown contains the secret, or is much longer than what it shows.
private func requireMasked(_ shown: String, of count: Int) {
    require(!shown.contains(secret), shown)
    require(shown.utf8.count < 64 * (count + 1000), "\(count) bytes become \(shown.utf8.count)")
}

extension Redaction {
    /// Stops if any way to show a body shows the secret.
    fileprivate func requireMasked(_ body: [UInt8], _ type: MediaType?) {
        let data = Data(body)
        Fuzz.requireMasked(self.body(data, type), of: body.count)
        Fuzz.requireMasked(self.body(data, type, limit: body.count / 2), of: body.count)
        Fuzz.requireMasked(String(decoding: sentBody(data, type), as: UTF8.self), of: body.count)
    }
}

extension Target {
    /// A secret that a request contains is hidden everywhere, whatever is around it.
    static let known = Self("known") { input in
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.authorization = .bearer(secret) }
        let redaction = Redaction.standard.knowing(request)
        let types: [MediaType?] = [
            nil, .json, "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=b", .html,
        ]
        let type = input.element(of: types)
        let (before, after) = (input.part(), input.bytes())
        // Formatting invalid JSON removes spaces, which must not be what has kept the secret apart.
        let others = String(decoding: (before + [0] + after).filter { !$0.isJSONSpace }, as: UTF8.self)
        if others.contains(secret) { return }
        let body = before + Array(secret.utf8) + after
        redaction.requireMasked(body, type)
        let text = String(decoding: body, as: UTF8.self)
        requireMasked(redaction.masked(text), of: body.count)
        requireMasked(redaction.url(text), of: body.count)
        requireMasked(redaction.host(text), of: body.count)
        requireMasked(redaction.masked(field: String(decoding: before, as: UTF8.self), text), of: body.count)
        requireMasked(redaction.quote(text), of: body.count)
    }

    /// A secret under a hidden name is hidden in each format.
    static let masking = Self("masking") { input in
        let names = ["password", "access_token", "API-Key", "user[token]", "Client Secret", "tokens", "sig"]
        let (format, name) = (input.number(below: 6), input.element(of: names))
        switch format {
        case 0:
            var json = JSON(secret: secret)
            json.append(&input, name: name, depth: 5)
            Redaction.standard.requireMasked(json.bytes + input.bytes(), .json)
        case 1:
            let (before, after) = (input.part(), input.bytes())
            let item = "&\(name.percentEncoded(.form).replacing(" ", with: "+"))=\(secret)"
            Redaction.standard.requireMasked(before + item.utf8 + (after.isEmpty ? [] : "&".utf8 + after), .form)
        case 2:
            let (before, after) = (input.text(), input.text())
            let end = input.element(of: ["", " ", "&", "#", "\"", "\n"])
            let text = "\(before) https://h.example/a?\(name.percentEncoded(.unreserved))=\(secret)\(end)\(after)"
            Redaction.standard.requireMasked(Array(text.utf8), .text)
            requireMasked(Redaction.standard.masked(text), of: text.utf8.count)
        case 3:
            let (part, other) = (input.text().replacing("--b", with: ""), input.text().replacing("--b", with: ""))
            let head = "Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n"
            let text = "--b\r\n\(part)\r\n--b\r\n\(head)\(secret)\r\n--b\r\n\(other)\r\n--b--\r\n"
            Redaction.standard.requireMasked(Array(text.utf8), "multipart/form-data; boundary=b")
        case 4:
            let text = input.text()
            requireMasked(Redaction.standard.masked(field: name, secret + text), of: text.utf8.count)
            requireMasked(Redaction.standard.url("https://u:\(secret)@h.example/" + text), of: text.utf8.count)
            requireMasked(Redaction.standard.host("https://u:\(secret)@h.example" + text), of: text.utf8.count)
        default:
            // Nothing is planted: any text under any name, which is short, because the app has chosen it.
            let (name, text) = (String(input.text().unicodeScalars.prefix(40)), input.text())
            let redaction = Redaction.standard.adding(name)
            if redaction != .standard, !text.isEmpty {
                require(redaction.masked(field: name, text) == Redaction.mask, "\(name): \(text)")
            }
            let json = redaction.masked("{\"\(name)\":\"\(text)\"}", as: .json)
            requireMasked(json, of: text.utf8.count + name.utf8.count)
        }
    }
}

/// Makes valid JSON that contains a secret under a hidden name.
private struct JSON {
    let secret: String
    private(set) var bytes: [UInt8] = []

    init(secret: String) { self.secret = secret }

    mutating func append(_ input: inout Input, name: String, depth: Int) {
        switch depth > 0 ? input.number(below: 8) : 1 {
        case 0: append("null")
        case 1: append(quoted(input.text(), &input))
        case 2: append(input.element(of: ["0", "-1.5e3", "true", "false", "12345678901234567890"]))
        case 3:
            append("[")
            for index in 0..<input.number(below: 4) {
                if index > 0 { append(",") }
                append(&input, name: name, depth: depth - 1)
            }
            append("]")
        default:
            append("{" + input.element(of: ["", " ", "\n"]))
            for _ in 0..<input.number(below: 3) {
                append(quoted(input.text(), &input) + ":")
                append(&input, name: name, depth: depth - 1)
                append("," + input.element(of: ["", " ", "\n\t"]))
            }
            let values = [
                "\"\(secret)\"", "[\"\(secret)\"]", "[1, \"\(secret)\", null]", "\"\\u0020\(secret)\"",
                "\"a\\\"\(secret)\"",
            ]
            append("\(quoted(name, &input)) : \(input.element(of: values))")
            append(input.element(of: ["", " ", "\n"]) + "}")
        }
    }

    /// A string with one of its ASCII characters as an escape.
    private func quoted(_ text: String, _ input: inout Input) -> String {
        var scalars = text.escapedForJSON.unicodeScalars.map { String($0) }
        let place = input.number(below: 64)
        if place < scalars.count, !text.escapedForJSON.contains("\\"), let scalar = scalars[place].unicodeScalars.first,
            scalar.isASCII
        {
            scalars[place] = "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst()
        }
        return "\"\(scalars.joined())\""
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }
}
