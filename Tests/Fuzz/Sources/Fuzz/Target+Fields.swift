import Foundation
import HTTPTypes

@testable import URLConfig

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Target {
    /// Header fields in general, media types, and `Set-Cookie` fields that were joined.
    static let fields = Self("fields") { input in
        let (name, value) = (input.text(), input.text())
        let fields = HTTPFields(received: [(name, value), ("Content-Type", value), ("Retry-After", value)])
        require(fields.allSatisfy { !$0.value.hasBreak && !$0.name.rawName.isEmpty }, "\(fields)")
        if let type = MediaType(value) {
            require(MediaType(type.description) == type && !type.description.hasControlCharacter, "\(type)")
            require(!type.essence.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "\(type.essence)")
            require(type.matches(type), "\(type)")
        }
        require(value.separateCookies.joined(separator: ", ").isSame(as: value), "\(value.separateCookies)")
        if (try? URLRequest.checkField(name, value)) != nil {
            require(!value.hasBreak && HTTPField.Name(name) != nil, "\(name): \(value)")
        }
        require(!value.onOneLine.hasBreak && !value.escapingControls.contains("\r"), "\(value.onOneLine)")
        let response = DataResponse(request: URLRequest.with(.init(host: "https://h.example")), headerFields: fields)
        require(response.retryAfter ?? .zero >= .zero, "\(fields)")
    }

    /// `Set-Cookie`: a cookie is for a host that may set it.
    static let cookies = Self("cookies") { input in
        let hosts = [
            "https://api.example.com/a/b", "http://www.example.co.uk", "http://127.0.0.1:8080", "https://[::1]/",
            "https://localhost", "http://com", "https://xn--bcher-kva.example",
        ]
        guard let url = URL(string: input.element(of: hosts)), let host = url.host()?.lowercased() else { return }
        let (values, now) = ([input.text(), input.text()], Date(timeIntervalSince1970: 1_800_000_000))
        for cookie in values.compactMap({ HTTPCookie($0, from: url, now: now) }) {
            let isForSubdomains = cookie.domain.hasPrefix(".")
            let domain = String(cookie.domain.dropFirst(isForSubdomains ? 1 : 0))
            require(host == domain || isForSubdomains && host.hasSuffix("." + domain), "\(host) sets \(cookie)")
            require(!isForSubdomains || domain.contains("."), "\(host) sets \(cookie)")
            require(!cookie.isSecure || url.isHTTPS, "\(cookie)")
            require(!(cookie.name + cookie.value).hasControlCharacter, "\(cookie)")
            require(!cookie.name.utf8.contains { ";=".utf8.contains($0) }, "\(cookie)")
            require(!cookie.value.utf8.contains(UInt8(ascii: ";")), "\(cookie)")
            let name = cookie.name.lowercased()
            require(cookie.isSecure || !name.hasPrefix("__secure-") && !name.hasPrefix("__host-"), "\(cookie)")
            require(!name.hasPrefix("__host-") || cookie.path == "/" && !isForSubdomains, "\(cookie)")
        }
    }

    /// Dates of header fields and of cookies.
    static let dates = Self("dates") { input in
        let text = input.text()
        for date in [Date(httpDate: text), Date(cookieDate: text)] {
            guard let date else { continue }
            require(date.httpDate.flatMap { Date(httpDate: $0) } == date, "\(text) is \(date)")
        }
        if let date = Date(strictHTTPDate: text) {
            // It also accepts the name of the time zone in lower case.
            let text = text.replacing(/gmt$/.ignoresCase(), with: "GMT")
            require(Date(httpDate: text) == date, "\(text) is \(date)")
        }
        if let text = Date(httpDate: text)?.httpDate {
            require(Date(strictHTTPDate: text) == Date(httpDate: text), "\(text) is written, but not read")
        }
    }

    /// `Link` fields, and references that are resolved.
    static let links = Self("links") { input in
        let (text, reference) = (input.text(), input.text())
        let request = URLRequest.with(.init(host: "https://api.example.com")) { $0.path = "/a/b" }
        let response = DataResponse(request: request, headerFields: HTTPFields(received: [("Link", text)]))
        let links = response.links
        for (index, link) in links.enumerated() {
            require(link.target.scheme != nil && !link.relations.isEmpty, "\(link)")
            require(!link.description.hasBreak, "\(link)")
            require(index > 9 || link.anchor != nil || links[link.relations[0]] != nil, "\(link)")
        }
        if let url = URL(reference: reference, relativeTo: request.url) {
            let start = reference.utf8.prefix { !"/?#".utf8.contains($0) }
            let isRelative = !start.contains(UInt8(ascii: ":")) && !reference.utf8.starts(with: "//".utf8)
            require(url.scheme != nil && (!isRelative || Origin(url) == Origin(request.url)), "\(reference) is \(url)")
        }
    }

    /// Responses to requests for the rest of a file: `Content-Range`, validators and lengths.
    static let ranges = Self("ranges") { input in
        let url = URL(string: "https://h.example/a.zip")
        let old = HTTPFields(received: [
            ("ETag", input.text()), ("Last-Modified", input.text()), ("Date", input.text()),
        ])
        let total = input.element(of: [nil, 100, 5, 1]) as Int64?
        let resumption = Resumption(count: 5, validator: StrongValidator(old, of: url), total: total)
        let status = HTTPResponse.Status(code: input.element(of: [200, 203, 204, 206, 416]))
        var names = [
            "Content-Range", "Content-Length", "ETag", "Last-Modified", "Content-Encoding", "Transfer-Encoding",
            "Content-Type",
        ]
        if input.number(below: 2) == 1 { names.insert("Content-Range", at: 0) }
        let fields = HTTPFields(received: names.map { ($0, input.text()) })
        var request = URLRequest.with(.init(host: "https://h.example"))
        resumption.prepare(&request)
        require(!(request.allHTTPHeaderFields ?? [:]).values.contains(where: \.hasControlCharacter), "\(request)")
        guard case .use(let start, let validator, let length) = resumption.decision(status, fields, of: url) else {
            return
        }
        require([200, 203, 206].contains(status.code) && length ?? 0 >= 0, "\(fields)")
        require(validator?.isValid != false, "\(fields)")
        guard start > 0 else { return require(status.code != 206, "\(fields)") }
        let last = length.map { $0 - 1 } ?? 0
        let ranges = ["bytes \(start)-\(last)/\(last + 1)", "bytes \(start)-\(last)/*"]
        require(status.code == 206 && start == resumption.start && validator != nil, "\(fields)")
        require(ranges.contains { fields[.contentRange]?.lowercased() == $0 } && start <= last, "\(fields)")
        require(total == nil || length == total, "\(fields)")
        require(fields[.eTag] == nil || fields[.eTag] == old[.eTag], "\(fields)")
    }
}
