extension URLRequest {
    /// The method and the URL, such as `GET https://api.example.com/users`; secrets are hidden.
    public var urlString: String { summary(shownRedaction) }

    /// The body for logs: formatted JSON, a form, plain text, or `<n bytes image/png>`; secrets are hidden.
    public var bodyString: String { shownBody(shownRedaction) }

    var shownRedaction: Redaction { URLSession.Config.default.redaction.including(hostRedaction).knowing(self) }

    /// What the preset of the host hides.
    fileprivate var hostRedaction: Redaction { URLSession.Config.preset(for: self).redaction }

    static let unsendable = "<cannot be sent>"

    func summary(_ redaction: Redaction) -> String {
        "\(httpMethod ?? "GET") \(shownURL(redaction) ?? Self.unsendable)"
    }

    /// The URL; `nil` if the request cannot be sent.
    func shownURL(_ redaction: Redaction) -> String? {
        refusal == nil ? redaction.url(url?.absoluteString ?? "<no URL>") : nil
    }

    func shownBody(_ redaction: Redaction, limit: Int = .max) -> String {
        guard httpBodyStream == nil else { return "<stream>" }
        return redaction.body(httpBody ?? Data(), contentType, limit: limit)
    }

    var contentType: MediaType? { value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) } }

    /// The request as a curl command for a POSIX shell; secrets are hidden.
    ///
    /// ```swift
    /// print(request.cURL(redaction: .none))
    /// // curl -X POST -H 'Content-Type: application/json' --data-raw '{"title":"it'\''s"}' 'https://api.example.com/a'
    /// ```
    ///
    /// A body stream is left out. For a body that is not JSON, a form or plain text, the size and the type are shown.
    ///
    /// - Parameter redaction: What is hidden. The names that the default redaction and the preset of the host add are
    ///   added to it. With ``Redaction/none``, nothing is hidden, and the command sends the same as the request. Then a
    ///   binary body is piped from `printf`.
    public func cURL(redaction: Redaction = URLSession.Config.default.redaction) -> String {
        if let refusal { return "# \(refusal.description.replacing("\n", with: " "))" }
        let redaction = redaction.including(URLSession.Config.default.redaction).including(hostRedaction).knowing(self)
        var words = ["curl"]
        let target = redaction.url(url?.absoluteString ?? "")
        if url?.hasDotSegment == true { words.append("--path-as-is") }
        if target.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        let method = httpMethod ?? "GET"
        if method == "HEAD" {
            words.append("--head")
        } else if method != "GET" || httpBody != nil {
            words += ["-X", method.shellQuoted]
        }
        for (name, value) in (allHTTPHeaderFields ?? [:]).sortedByName() {
            // curl removes a field for "name:", and sends an empty field for "name;".
            let field = value.isEmpty ? "\(name);" : "\(name): \(redaction.masked(field: name, value))"
            words += ["-H", field.shellQuoted]
        }
        var source = ""
        if let body = httpBody {
            // Without this, curl adds a content type.
            if value(forHTTPHeaderField: "Content-Type") == nil { words += ["-H", "'Content-Type:'"] }
            let sent = redaction.sentBody(body, contentType)
            // Foundation's decoding would remove a byte order mark.
            let text = String(decoding: sent, as: UTF8.self)
            if !sent.contains(0), text.utf8.elementsEqual(sent) {
                words += ["--data-raw", text.shellQuoted]
            } else {
                // POSIX: octal escapes.
                let format = sent.map { "\\" + String(0o1000 + Int($0), radix: 8).dropFirst() }.joined()
                source = "printf '\(format)' | "
                words += ["--data-binary", "@-"]
            }
        }
        words.append(target.shellQuoted)
        return source + words.joined(separator: " ")
    }
}

extension URLRequest.Config: RedactedReflectable {
    var shownChildren: [(String, Any?)] { settings(shownRedaction).map { ($0.name, $0.shown) } }

    /// What the default redaction hides, and the presets of ``url`` and ``host``, also if there can be no request.
    var shownRedaction: Redaction {
        [url, try? base.parts.get().url].compactMap { $0.map { URLRequest(url: $0).hostRedaction } }
            .reduce(URLSession.Config.default.redaction) { $0.including($1) }
    }

    /// Every member, as `explain` and `dump` show it.
    ///
    /// - Parameter request: Its fields and its body are shown; with ``url``, items of a preset's query are not sent.
    func settings(_ redaction: Redaction, _ request: URLRequest? = nil) -> [Explanation.Setting] {
        let key = idempotencyKey?.text.map { redaction.masked(field: IdempotencyKey.field, $0) } ?? "automatic"
        let body = request?.httpBody?.summary(request?.contentType) ?? (body.isEmpty ? nil : "set")
        var settings: [Explanation.Setting] = [
            .init("host", host, shown: redaction.host(host)), .init("path", path, shown: redaction.masked("\(path)")),
            .init("url", url, shown: redaction.url(url?.absoluteString ?? "")), .init("method", method.rawValue),
            .init("authorization", isSet: authorization != nil), .init("idempotencyKey", idempotencyKey, shown: key),
            .init(name: "body", shown: body, identity: request?.httpBody), .init("timeout", timeout),
            .init("cachePolicy", cachePolicy, shown: cachePolicy.name), .init("encoder", type: effectiveEncoder),
            .init("modify", isSet: modify != nil), .init("query.arrayStyle", query.arrayStyle),
        ]
        // Comparing and hashing long texts of combining marks takes quadratic time.
        let items = Dictionary(grouping: url == nil ? query.items : own?.query ?? []) {
            redaction.masked($0.name ?? "").shortened(to: 60)
        }
        for (name, items) in items.sorted(by: { $0.key < $1.key }) {
            let text = items.flatMap { $0.encoded == nil ? $0.values : ["<encoded>"] }.joined(separator: ",")
            let shown = redaction.masked(item: items[0].name ?? "", text)
            // A value that is set again is the same for the reader.
            settings.append(.init("query[\"\(name)\"]", items.map(\.ofNoGeneration), shown: shown))
        }
        let sent = request.flatMap { $0.refusal == nil ? $0.allHTTPHeaderFields ?? [:] : nil }
        let fields = sent.map { HTTPFields(received: $0.lazy.map { ($0, $1) }) } ?? headers
        for (name, fields) in Dictionary(grouping: fields, by: \.name.canonicalName).sorted(by: { $0.key < $1.key }) {
            // An automatic key is another one at each stage.
            if idempotencyKey != nil, !hasOwnKey, name == IdempotencyKey.field.lowercased() { continue }
            let value = HTTPFields(fields)[fields[0].name] ?? ""
            let shown = redaction.masked(field: name, value)
            let scheme = shown == Redaction.mask ? ["Basic ", "Bearer "].first(where: value.hasPrefix) : nil
            settings.append(.init("headers[\"\(name)\"]", value, shown: (scheme ?? "") + shown))
        }
        return settings
    }
}

extension URL {
    /// Whether curl would send another path: it removes `.` and `..`.
    fileprivate var hasDotSegment: Bool {
        path(percentEncoded: true).lowercased().split(separator: "/").contains {
            [".", ".."].contains($0.replacing("%2e", with: "."))
        }
    }
}

extension String {
    /// The text as one word for a POSIX shell: between single quotes, only a single quote is special.
    ///
    /// Scalars are compared, because a quote with a combining accent is one character, but still ends the word.
    fileprivate var shellQuoted: String {
        // A tilde at the start means the home directory.
        if !isEmpty, utf8.first != UInt8(ascii: "~"), needsNoEncoding(.unreserved) { return self }
        return unicodeScalars.reduce(into: "'") { word, scalar in
            word += scalar == "'" ? #"'\''"# : String(scalar)
        } + "'"
    }
}

extension URLRequest.CachePolicy {
    /// An enumeration of Objective-C does not know its names.
    fileprivate var name: String {
        switch self {
        case .useProtocolCachePolicy: "useProtocolCachePolicy"
        case .reloadIgnoringLocalCacheData: "reloadIgnoringLocalCacheData"
        case .reloadIgnoringLocalAndRemoteCacheData: "reloadIgnoringLocalAndRemoteCacheData"
        case .returnCacheDataElseLoad: "returnCacheDataElseLoad"
        case .returnCacheDataDontLoad: "returnCacheDataDontLoad"
        case .reloadRevalidatingCacheData: "reloadRevalidatingCacheData"
        @unknown default: "\(rawValue)"
        }
    }
}
