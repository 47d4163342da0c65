import URLConfig

/// A file of HTTP exchanges: HAR 1.2, as browsers export it.
struct Archive: Sendable {
    private static let mostBytes = 64 << 20
    /// Longer bodies are written to files of their own.
    private static let mostInline = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// They say how the bytes were sent, which a replay does not repeat, or when.
    private static let omitted: Set = [
        "connection", "content-encoding", "content-length", "date", "keep-alive", "transfer-encoding",
    ]

    /// One exchange of the file.
    struct Played: Sendable {
        fileprivate let method: String
        fileprivate let url: String
        fileprivate let body: Data
        fileprivate let contentType: MediaType?
        let response: HTTPStubs.Response

        var path: String? { URL(string: url)?.path(percentEncoded: true) }

        /// The method and the URL; secrets are hidden.
        func name(_ redaction: Redaction) -> String { "\(method) \(redaction.url(url))" }

        func key(_ redaction: Redaction) -> ExchangeKey {
            ExchangeKey(method: method, url: url, body: body, contentType, redaction)
        }
    }

    let exchanges: [Played]
    /// The file as it was, with what only its author understands.
    private let data: Data

    /// - Throws: ``StubMistake`` if the file is no HAR, or too large.
    init(contentsOf file: URL) throws(StubMistake) {
        let name = file.lastPathComponent
        guard var data = try? Data(contentsOf: file, options: .mappedIfSafe) else {
            throw StubMistake("\(name) cannot be read")
        }
        guard data.count <= Self.mostBytes else {
            throw StubMistake("\(name) has \(data.count >> 20) MB; at most \(Self.mostBytes >> 20) MB are read")
        }
        if data.starts(with: Self.byteOrderMark) { data = data.dropFirst(3) }
        self.data = Data(data)
        guard let root = try? JSONSerialization.jsonObject(with: self.data) else {
            throw StubMistake("\(name) is not JSON, or it was cut")
        }
        guard let entries = Self.entries(of: root), !entries.isEmpty else {
            throw StubMistake("\(name) has no log.entries, so it is no HAR file")
        }
        var exchanges: [Played] = []
        for (index, entry) in entries.enumerated() {
            do throws(StubMistake) {
                try Self.exchange(entry, beside: file).map { exchanges.append($0) }
            } catch {
                throw StubMistake("\(name), entry \(index + 1): \(error.text)")
            }
        }
        self.exchanges = exchanges
    }

    private static func entries(of root: Any?) -> [[String: Any]]? {
        ((root as? [String: Any])?["log"] as? [String: Any])?["entries"] as? [[String: Any]]
    }

    /// - Returns: `nil` for a request without a response, such as one that was cancelled.
    private static func exchange(_ entry: [String: Any], beside file: URL) throws(StubMistake) -> Played? {
        guard let request = entry["request"] as? [String: Any], let method = request["method"] as? String,
            let url = request["url"] as? String
        else { throw StubMistake("request.method or request.url is missing") }
        guard let response = entry["response"] as? [String: Any], let status = response["status"] as? Int,
            (100...599).contains(status)
        else { return nil }
        var fields = HTTPFields()
        for (name, value) in pairs(response["headers"]) where keeps(name.lowercased(), method) {
            // Pseudo fields of HTTP/2, such as `:status`, are no names.
            guard let name = HTTPField.Name(name) else { continue }
            let values =
                name == .setCookie ? value.split(separator: "\n").flatMap { String($0).separateCookies } : [value]
            for value in values { fields.append(HTTPField(name: name, value: value)) }
        }
        let content = response["content"] as? [String: Any] ?? [:]
        let mimeType = fields[.contentType] ?? content["mimeType"] as? String
        var pieces = [try body(content, content["encoding"] as? String, mimeType, beside: file)]
        if let sizes = content["_chunks"] as? [Int] { pieces = pieces[0].cut(sizes) }
        let post = request["postData"] as? [String: Any] ?? [:]
        let type =
            post["mimeType"] as? String ?? pairs(request["headers"]).first { $0.0.lowercased() == "content-type" }?.1
        var sent = try body(post, post["_encoding"] as? String, type, beside: file)
        if sent.isEmpty, let params = post["params"] as? [[String: Any]] {
            let items = params.map { item in
                ["name", "value"].map { (item[$0] as? String ?? "").percentEncoded }.joined(separator: "=")
            }
            sent = Data(items.joined(separator: "&").utf8)
        }
        let recorded = HTTPStubs.Response(
            recorded: pieces, isCut: content["_isCut"] as? Bool ?? false, status: .init(code: status),
            headerFields: fields)
        // Some tools export no bodies. A redirect and a response to HEAD may have a size without a body.
        let mayBeEmpty = content["size"] as? Int ?? 0 <= 0 || method == "HEAD" || 300..<400 ~= status
        let isLeftOut = !mayBeEmpty && content["text"] == nil && content["_file"] == nil
        return Played(
            method: method, url: url, body: sent, contentType: type.flatMap { MediaType($0) },
            response: isLeftOut ? .error(StubMistake("the file does not have the body, only its size")) : recorded)
    }

    /// Whether a field is recorded and played: of a response to HEAD, the length is all that it says of the content.
    private static func keeps(_ name: String, _ method: String) -> Bool {
        !omitted.contains(name) || name == "content-length" && method == "HEAD"
    }

    private static func pairs(_ list: Any?) -> [(String, String)] {
        (list as? [[String: Any]] ?? []).compactMap { item in
            (item["name"] as? String).flatMap { name in (item["value"] as? String).map { (name, $0) } }
        }
    }

    /// - Parameter type: The media type, whose character set the bytes had: the text of a HAR file is Unicode.
    private static func body(
        _ content: [String: Any], _ encoding: String?, _ type: String?, beside file: URL
    ) throws(StubMistake) -> Data {
        if let name = content["_file"] as? String {
            let url = file.deletingLastPathComponent().appending(path: name)
            guard !name.contains("/"), let data = try? Data(contentsOf: url) else {
                throw StubMistake("the file of its body, '\(name)', cannot be read")
            }
            return data
        }
        let text = content["text"] as? String ?? ""
        guard encoding == "base64" else { return text.encoded(as: type) ?? Data(text.utf8) }
        guard let data = Data(base64Encoded: text) else {
            throw StubMistake("its body is not base64")
        }
        return data
    }
}

extension Archive {
    /// Adds exchanges to the end of a file.
    ///
    /// - Throws: ``StubMistake`` if the file would contain a secret; errors of the disk. The old file is kept then.
    static func write(_ exchanges: [Exchange], after old: Archive?, to file: URL) throws {
        var root = try old.map { try JSONSerialization.jsonObject(with: $0.data) as? [String: Any] ?? [:] } ?? [:]
        var log =
            root["log"] as? [String: Any] ?? ["version": "1.2", "creator": ["name": "URLConfig", "version": "1"]]
        var entries = log["entries"] as? [[String: Any]] ?? []
        var files: [String: Data] = [:]
        let all = Redaction.standard.knowing(
            secretsOf: exchanges.map { ($0.request.withBody, $0.request.redaction) },
            received: exchanges.flatMap(\.received))
        let used = Set(entries.flatMap(bodyFiles))
        let base = file.deletingPathExtension().lastPathComponent
        var number = entries.count
        for exchange in exchanges {
            var name: String
            repeat {
                number += 1
                name = "\(base)-\(number)"
            } while !used.isDisjoint(with: ["\(name)-request", "\(name)-response"])
            entries.append(try entry(exchange, all, name, &files))
        }
        (log["entries"], root["log"]) = (entries, nil)
        root["log"] = log
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try JSONSerialization.data(withJSONObject: root, options: options)
        let folder = file.deletingLastPathComponent()
        let former = (try? Data(contentsOf: file)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
        for (name, data) in files { try data.write(to: folder.appending(path: name), options: .atomic) }
        try (data + "\n".utf8).write(to: file, options: .atomic)
        let unused = Set((Self.entries(of: former) ?? []).flatMap(bodyFiles)).subtracting(entries.flatMap(bodyFiles))
        // A file with another name was not written here, and may be in use elsewhere.
        for name in unused where name.hasPrefix("\(base)-") && !name.contains("/") {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    private static func entry(
        _ exchange: Exchange, _ all: Redaction, _ name: String, _ files: inout [String: Data]
    ) throws(StubMistake) -> [String: Any] {
        let request = exchange.request
        let redactions = exchange.redactions.flatMap { [$0, all] }
        let url = redactions.reduce(request.url.absoluteString) { $1.url($0) }
        let method = request.method.rawValue
        let sent = fields(request.headerFields, method, redactions)
        let received = fields(exchange.headerFields, method, redactions)
        let type = exchange.headerFields[.contentType]
        let body = redactions.reduce(request.body) { $1.hiding(recorded: $0, request.contentType, keepsNumbers: true) }
        let pieces = exchange.pieces.withLock { $0 }
        let content = redactions.reduce(Data(pieces.joined())) {
            $1.hiding(recorded: $0, type.flatMap { MediaType($0) }, keepsNumbers: true)
        }
        let texts = [url] + (sent + received).flatMap { [$0["name"] ?? "", $0["value"] ?? ""] }
        let shown = texts + [body, content].map { String(data: $0, encoding: .utf8) ?? $0.base64EncodedString() }
        guard redactions.allSatisfy({ redaction in shown.allSatisfy { redaction.maskedByValue($0) == $0 } }) else {
            throw StubMistake("\(request.description): it would contain a secret of the call")
        }
        var post = stored(body, request.contentType?.description, "\(name)-request", "_encoding", &files)
        post["mimeType"] = request.contentType?.description ?? ""
        var json = stored(content, type, "\(name)-response", "encoding", &files)
        (json["mimeType"], json["size"]) = (type ?? "", content.count)
        if exchange.isStream, pieces.count > 1 { json["_chunks"] = content.sizes(of: pieces) }
        if exchange.end.withLock({ $0 }) == .left { json["_isCut"] = true }
        let sizes: [String: Any] = ["httpVersion": "HTTP/1.1", "cookies": [Any](), "headersSize": -1, "bodySize": -1]
        var requestJSON: [String: Any] = [
            "method": method, "url": url, "headers": sent, "queryString": [Any](),
        ]
        if !body.isEmpty { requestJSON["postData"] = post }
        let responseJSON: [String: Any] = [
            "status": exchange.status.code, "statusText": exchange.status.reasonPhrase, "headers": received,
            "content": json, "redirectURL": "",
        ]
        return [
            "request": requestJSON.merging(sizes) { own, _ in own },
            "response": responseJSON.merging(sizes) { own, _ in own }, "cache": [String: Any](),
            // A time would make each recording differ from the one before.
            "startedDateTime": "1970-01-01T00:00:00.000Z", "time": 0,
            "timings": ["send": 0, "wait": 0, "receive": 0],
        ]
    }

    private static func fields(
        _ fields: HTTPFields, _ method: String, _ redactions: [Redaction]
    ) -> [[String: String]] {
        fields.filter { keeps($0.name.canonicalName, method) }.map { field in
            let value = redactions.reduce(field.value) { value, redaction in
                guard field.name == .setCookie, redaction.hides(field.name.rawName) else {
                    return redaction.masked(field: field.name.rawName, value)
                }
                // The name and the attributes of a cookie are no secrets. Without a name, all before them is the value.
                let pair = value.utf8.prefix { $0 != UInt8(ascii: ";") }
                let start = pair.firstIndex(of: UInt8(ascii: "=")).map(pair.index(after:)) ?? pair.startIndex
                return redaction.maskedByValue("\(value[..<start])***\(value[pair.endIndex...])")
            }
            return ["name": field.name.rawName, "value": value]
        }.sorted { ($0["name"] ?? "").lowercased() < ($1["name"] ?? "").lowercased() }
    }

    /// The files of an entry's bodies.
    private static func bodyFiles(of entry: [String: Any]) -> [String] {
        let bodies = [("request", "postData"), ("response", "content")].map { side, body in
            (entry[side] as? [String: Any])?[body] as? [String: Any]
        }
        return bodies.compactMap { $0?["_file"] as? String }
    }

    /// A body in the file, or beside it.
    private static func stored(
        _ body: Data, _ type: String?, _ name: String, _ encoding: String, _ files: inout [String: Data]
    ) -> [String: Any] {
        if body.count > mostInline {
            files[name] = body
            return ["_file": name]
        }
        // Reading the file as JSON would remove a byte order mark.
        if !body.starts(with: byteOrderMark), let text = String(data: body, encoding: .utf8),
            text.encoded(as: type) ?? body == body
        {
            return ["text": text]
        }
        return ["text": body.base64EncodedString(), encoding: "base64"]
    }
}

/// An exchange that is recorded while the caller reads the body.
struct Exchange: Sendable {
    let request: HTTPStubs.Request
    let status: HTTPResponse.Status
    let headerFields: HTTPFields
    let isStream: Bool
    let pieces = Locked<[Data]>([])
    let end = Locked(End.left)

    enum End {
        /// The reader has left before the end of the body.
        case left
        case complete
        /// The connection was lost.
        case lost
    }

    /// The redactions of the call; none if nothing is to be hidden.
    fileprivate var redactions: [Redaction] { !request.redaction.isActive ? [] : [request.redaction] }

    /// The secrets that the server has sent.
    fileprivate var received: [[UInt8]] {
        let type = headerFields[.contentType].flatMap { MediaType($0) }
        let body = pieces.withLock { Data($0.joined()) }
        return redactions.flatMap { $0.secrets(in: headerFields) + $0.secrets(recorded: body, type) }
    }
}

extension HTTPFields {
    /// The fields of a response that has just come, with its lifetime in place of the end of it (RFC 9111 §5.3).
    ///
    /// A replay is on another day. An end that is no date stays: such a response is stale on every day.
    var withLifetime: Self {
        guard self[.cacheControl]?.lowercased().contains("max-age") != true,
            let end = self[.expires].flatMap({ Date(strictHTTPDate: $0) })
        else { return self }
        let start = self[.date].flatMap { Date(strictHTTPDate: $0) } ?? Date()
        var fields = self
        fields[.expires] = nil
        let seconds = Swift.max(0, Int64(end.timeIntervalSince(start)))
        fields.append(HTTPField(name: .cacheControl, value: "max-age=\(seconds)"))
        return fields
    }
}

extension HTTPStubs.Request {
    /// The request with its body, in which secrets may be.
    fileprivate var withBody: URLRequest {
        var request = urlRequest
        request.httpBodyStream = nil
        request.httpBody = body
        return request
    }
}

extension String {
    fileprivate var percentEncoded: String {
        addingPercentEncoding(withAllowedCharacters: .init(charactersIn: "-._~").union(.alphanumerics)) ?? ""
    }

    /// The bytes of this text in the character set of a media type; `nil` if that cannot be.
    fileprivate func encoded(as type: String?) -> Data? {
        let charset = type.flatMap { MediaType($0) }?.parameters["charset"]
        return String.Encoding(charset: charset).flatMap { data(using: $0) }
    }
}

extension Data {
    /// Pieces of these sizes; the last has the rest.
    fileprivate func cut(_ sizes: [Int]) -> [Data] {
        var (pieces, rest) = ([Data](), self[...])
        for size in sizes.dropLast() {
            pieces.append(Data(rest.prefix(Swift.max(0, size))))
            rest = rest.dropFirst(Swift.max(0, size))
        }
        return (pieces + [Data(rest)]).filter { !$0.isEmpty }
    }

    /// The sizes of pieces of this text whose secrets are hidden: of a line that is cut, the whole is in the last.
    func sizes(of pieces: [Data]) -> [Int] {
        if count == pieces.reduce(0, { $0 + $1.count }) { return pieces.map(\.count) }
        let (feed, ends) = (UInt8(ascii: "\n"), indices.filter { self[$0] == UInt8(ascii: "\n") })
        var (sizes, lines, start) = ([Int](), 0, 0)
        for piece in pieces {
            lines += piece.count { $0 == feed }
            let end = ends.prefix(lines).last.map { $0 + 1 } ?? 0
            sizes.append(Swift.max(0, end - start))
            start = Swift.max(start, end)
        }
        return sizes
    }
}
