extension URLRequest {
    /// Method and URL, such as `GET https://api.example.com/users`; secrets are hidden.
    public var urlString: String { summary(shownRedaction) }

    /// The body as it is shown in logs: pretty JSON, or text, or `<n bytes image/png>`; secrets are hidden.
    public var bodyString: String { shownBody(shownRedaction) }

    /// The request as a curl command for a POSIX shell; secrets are hidden, see ``cURL(redaction:)`` for one with them.
    public var cURL: String { cURL(redaction: URLSession.Config.default.redaction) }

    private var shownRedaction: Redaction { URLSession.Config.default.redaction.knowing(self) }

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

    private var contentType: MediaType? { value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) } }
}

extension URLRequest {
    /// The request as a curl command that runs in a POSIX shell.
    ///
    /// ```swift
    /// print(request.cURL(redaction: .none))
    /// // curl -X POST -H 'Content-Type: application/json' --data-raw '{"title":"it'\''s"}' 'https://api.example.com/a'
    /// ```
    ///
    /// A body that is no text is written with `printf` and piped in. One that is a stream is left out.
    ///
    /// - Parameter redaction: What is hidden; with ``Redaction/none`` the command sends what the request would.
    public func cURL(redaction: Redaction) -> String {
        if let refusal { return "# \(refusal.description.replacing("\n", with: " "))" }
        let redaction = redaction.knowing(self)
        var words = ["curl"]
        let target = redaction.url(url?.absoluteString ?? "")
        if target.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        let method = httpMethod ?? "GET"
        if method == "HEAD" {
            words.append("--head")
        } else if method != "GET" || httpBody != nil {
            words += ["-X", method.shellQuoted]
        }
        for (name, value) in (allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            // curl takes "name:" for the wish to leave a field out, and "name;" for an empty one.
            let field = value.isEmpty ? "\(name);" : "\(name): \(redaction.masked(field: name, value))"
            words += ["-H", field.shellQuoted]
        }
        var source = ""
        if let body = httpBody {
            // Without a type of ours, curl would make one up.
            if value(forHTTPHeaderField: "Content-Type") == nil { words += ["-H", "'Content-Type:'"] }
            let sent = redaction.sentBody(body, contentType)
            if let text = String(data: sent, encoding: .utf8), !text.utf8.contains(0) {
                words += ["--data-raw", text.shellQuoted]
            } else {
                source = "printf \(sent.printfFormat) | "
                words += ["--data-binary", "@-"]
            }
        }
        words.append(target.shellQuoted)
        return source + words.joined(separator: " ")
    }
}

extension URLRequest.Config: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        let redaction = URLSession.Config.default.redaction
        let url = (try? urlText()).map(redaction.url) ?? redaction.host(host)
        return [
            ("method", method.rawValue), ("url", url), ("headers", redaction.masked(headers)),
            ("authorization", authorization.map { _ in Redaction.mask }), ("hasBody", !body.isEmpty),
            ("timeout", timeout),
        ]
    }
}

extension String {
    /// One word of a POSIX shell: between single quotes only a single quote has a meaning.
    ///
    /// By scalars, not characters: a quote and a combining accent after it are one character, but end the word all the
    /// same.
    fileprivate var shellQuoted: String {
        // A tilde that starts a word is the home folder.
        if !isEmpty, utf8.first != UInt8(ascii: "~"), needsNoEncoding(.unreserved) { return self }
        return unicodeScalars.reduce(into: "'") { word, scalar in
            word += scalar == "'" ? #"'\''"# : String(scalar)
        } + "'"
    }
}

extension Data {
    /// A format for `printf` that prints these bytes: octal escapes, which POSIX has, for all but letters and digits.
    fileprivate var printfFormat: String {
        reduce(into: "'") { text, byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let octal = String(byte, radix: 8)
                text += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }
        } + "'"
    }
}
