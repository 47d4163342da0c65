import Foundation
import HTTPTypes

@testable import URLConfig

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let secret = "S3cr3tT0kenV4lue9876"

private let home = Origin(URL(string: "https://api.example.com:8443"))

private let preset = URLRequest.Config(host: "https://api.example.com:8443/v2") {
    $0.authorization = .bearer(secret)
    $0.headers["X-Api-Key"] = secret
    $0.headers[.cookie] = "sid=\(secret)"
}

extension Substring {
    /// The bytes without percent-encoding; Foundation leaves out a byte order mark.
    fileprivate var decoded: [UInt8] {
        let parts = utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return parts[0] + parts.dropFirst().flatMap { [UInt8(hexDigits: $0.prefix(2)) ?? 0] + $0.dropFirst(2) }
    }
}

extension URLRequest {
    fileprivate var hasSecret: Bool { (allHTTPHeaderFields ?? [:]).values.contains { $0.contains(secret) } }
}

extension Target {
    /// Paths and queries: no text leads to another host or out of its segment.
    static let path = Self("path") { input in
        let (literal, value, item) = (input.text(), input.text(), input.text())
        let paths: [URLRequest.Path] = [
            .init(literal), "/a/\(value)/b", "/a\(value)b?c=\(value)", "\(raw: literal)/\(value)",
        ]
        for (index, path) in paths.enumerated() {
            let request = try? preset.with {
                $0.path = path
                $0.query["q"] = item
            }.request()
            guard let url = request?.url else { continue }
            let text = url.path(percentEncoded: true)
            require(Origin(url) == home && url.user == nil, "\(url)")
            require(text == "/v2" || text.hasPrefix("/v2/"), "\(url)")
            let segments = text.split(separator: "/", omittingEmptySubsequences: false)
            require(!segments.contains { [Array(".".utf8), Array("..".utf8)].contains($0.decoded) }, "\(url)")
            if index == 1 {
                require(segments.count == 5 && segments[3].decoded.elementsEqual(value.utf8), "\(url)")
            }
            let last = url.query(percentEncoded: true)?.split(separator: "&").last ?? ""
            require(last.hasPrefix("q=") && last.dropFirst(2).decoded.elementsEqual(item.utf8), "\(url)")
        }
    }

    /// URLs and redirects that a server gives, and hosts: credentials stay with their origin.
    static let url = Self("url") { input in
        let status = HTTPResponse.Status(code: input.element(of: [301, 302, 303, 307, 308]))
        let (text, other) = (input.text(), input.text())
        if case .success(let parts) = BaseURL(text).parts, let url = parts.url {
            require(url.user == nil && url.password == nil && url.host()?.isEmpty == false, "\(text) is \(url)")
        }
        if let url = URL(string: text), let request = try? preset.with({ $0.url = url }).request() {
            require(Origin(request.url) == home || !request.hasSecret, "\(url) gets the credentials")
            require(Origin(request.url) == Origin(url), "\(url) becomes \(request.urlString)")
        }
        guard var request = try? preset.with({ $0.path = "/a/b" }).request() else { return }
        for text in [text, other] {
            let response = DataResponse(request: request, status: status, headerFields: [.location: text])
            guard let next = try? request.redirected(by: response, .standard), let url = next.url else { return }
            require(["http", "https"].contains(url.scheme) && url.host()?.isEmpty == false, "\(text) is \(url)")
            require(Origin(url) == home || !next.hasSecret, "\(text) gets the credentials")
            require(url.user == nil && url.password == nil, "\(text) is \(url)")
            request = next
        }
    }

    /// Multipart forms: no name and no value starts another part or field.
    static let multipart = Self("multipart") { input in
        let (name, filename, value) = (input.text(), input.text(), input.text())
        let type = MediaType(input.text()) ?? .octetStream
        var form = MultipartForm()
        form.append(name, value)
        form.append(name, data: Data(value.utf8), filename: filename, contentType: type)
        guard let data = try? form.data(JSONEncoder()) else { return }
        let (parts, mark) = (String(decoding: data, as: UTF8.self), "--" + form.boundary)
        let heads = parts.components(separatedBy: mark).dropFirst().dropLast().map { part in
            Array(part.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n").dropFirst())
        }
        require(heads.count == 2 && heads.map(\.count) == [1, 2], "\(parts)")
        // By bytes, because a quote with an accent is one character.
        let quoted = heads[1][0].utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        require(quoted.count == 5, "\(parts)")
        for (found, sent) in [(quoted[1], name), (quoted[3], filename)] {
            let escaped = sent.unicodeScalars.map { ["\"": "%22", "\r": "%0D", "\n": "%0A"][$0] ?? String($0) }
            require(found.elementsEqual(escaped.joined().utf8), "\(parts)")
        }
    }
}
