import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// Puts a secret, the canary, under each hidden name in each place of requests and responses, and looks for it in
/// everything that is shown.
@Suite(.oneAtATime) struct CanaryTests {
    /// It contains characters that every format escapes differently.
    static let canary = "c4n&ry/<\"Zé+9%2f\\x~"
    static let encoded = canary.percentEncoded(.unreserved)

    /// Names of services, beside the redaction's own.
    static let names =
        Redaction.standard.names.subtracting(["appid", "hmac"]).sorted().map(String.init) + [
            "access_token", "refreshToken", "id-token", "X-Auth-Token", "X-CSRF-Token", "X-Amz-Security-Token",
            "user[token]", "tokens", "X-Api-Key", "api_key", "new_password", "password_confirm", "old-password-2",
            "db_pass", "client_secret", "AWS_SECRET_ACCESS_KEY", "private_key", "client_assertion", "X-Amz-Signature",
            "user_pin", "userPin", "JSESSIONID", "PHPSESSID", "connect.sid", "token1", "id_token_hint", "SAMLResponse",
            "master_key", "DD-APPLICATION-KEY", "card[number]", "card_cvc", "customer.ssn", "mfa_code", "tls.key",
            "server.key", "appid", "openAppid", "kerberos_ticket", "x-hmac", "wifi_psk", "user-passkey", "card.pan",
            "card_security_code", "proxyAuthorization", "apiCredentials", "Session", "oauth_signature", "DPoP",
            "x_access_key", "x-app-key", "hmac-signature", "guest_session", "jwtAssertion", "user_otp", "x-signing-key",
            "cvv2", "smsOtp", "hmac",
            "login_passcode", "ssh_passphrase", "pgp.privateKey", "csrf_token", "authCookie",
            "Ocp-Apim-Subscription-Key",
        ]

    typealias Carrier = (name: String, carry: @Sendable (_ name: String) -> (type: MediaType?, body: String))

    /// The places of a canary: sixteen carriers with a name.
    static let carriers: [Carrier] = [
        ("query", { (.text, "https://h.example/a?b=1&\(item($0))&c=2") }),
        ("fragment", { (.text, "https://h.example/a#\(item($0))&c=2") }),
        ("URL in prose", { (.text, "see https://h.example/?\(item($0)) for more") }),
        ("URL in a query", { (.text, "/?next=" + "https://h.example/?\(item($0))&a=b".percentEncoded(.unreserved)) }),
        ("assignment in text", { (.text, "status=401 \(name($0))=\(encoded) user=7") }),
        ("form", { (.form, "a=1&\(item($0))&b=c") }), ("body without a type", { (nil, "\(item($0))&b=c") }),
        ("JSON", { (.json, json(["a": 1, $0: canary])) }),
        ("array", { (.problem, json(["a": [$0: [canary, canary]]])) }),
        ("value", { (.json, json([$0: ["value": canary, "expires": 7]])) }),
        ("name and value", { (.json, json(["list": [["name": $0, "value": canary]]])) }),
        (
            "value and name",
            {
                (
                    .json,
                    "{\"value\":\(json([canary]).dropFirst().dropLast()),\"key\":\(json([$0]).dropFirst().dropLast())}"
                )
            }
        ),
        ("JSON in JSON", { (.json, json(["a": json(["b": json([$0: canary])])])) }),
        ("JSON lines, cut", { (.text, "data: \(json(["a": 1]))\n\ndata: \(json([$0: canary]).dropLast(2))") }),
        (
            "multipart form",
            {
                (
                    "multipart/form-data; boundary=b",
                    "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\(canary)\r\n--b--\r\n"
                )
            }
        ),
        ("XML", { (MediaType("application/xml"), "<login><\($0)>\(canary)</\($0)></login>") }),
    ]

    static func name(_ name: String) -> String { name.percentEncoded(.unreserved) }
    static func item(_ name: String) -> String { "\(self.name(name))=\(encoded)" }

    static func json(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: value, options: [.withoutEscapingSlashes, .sortedKeys])
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// Whether the canary is shown in one of its spellings.
    static func isVisible(_ shown: String) -> Bool {
        ["c4n&ry", "c4n%26ry", "c4n\\u0026ry", "c4n%2526ry", "9%2f\\\\x", "9%2f\\x"].contains(where: shown.contains)
    }

    @Test func `two thousand canaries in sixteen carriers are hidden`() {
        var visible: [String] = []
        for carrier in Self.carriers {
            for name in Self.names {
                let (type, body) = carrier.carry(name)
                let redaction = Redaction.standard
                let shown = [
                    redaction.body(Data(body.utf8), type),
                    String(decoding: redaction.sentBody(Data(body.utf8), type), as: UTF8.self),
                    redaction.body(Data(body.utf8), type, limit: body.utf8.count - 5),
                ]
                if shown.contains(where: Self.isVisible) { visible.append("\(name) in \(carrier.name)") }
            }
        }
        #expect(Self.carriers.count == 16 && Self.carriers.count * Self.names.count >= 2000, "\(Self.names.count)")
        #expect(visible == [])
    }

    @Test(arguments: carriers.indices) func `a secret of the client is hidden where a server repeats it`(index: Int) {
        let (type, body) = Self.carriers[index].carry("password")
        guard type?.essence != "application/xml" else { return }
        var request = URLRequest(url: URL(string: "https://h.example/a")!)
        if index < 4 {
            request.setValue(body, forHTTPHeaderField: "Referer")
        } else {
            request.httpMethod = "POST"
            request.setValue(type?.description, forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body.utf8)
        }
        let redaction = Redaction.standard.knowing(request)
        let quoted = Self.json([Self.canary]).dropFirst(2).dropLast(2)
        for spelled in [Self.canary, Self.encoded, Self.encoded.replacing(/%../) { $0.0.lowercased() }, String(quoted)]
        {
            for said in ["no \(spelled), sorry", "/a/\(spelled)/b", "{\"a\":\"\(quoted)\",\"b\":\"\(Self.encoded)\"}"] {
                let shown = redaction.masked(said)
                #expect(!Self.isVisible(shown) && shown.contains("***"), "\(Self.carriers[index].name): \(shown)")
                #expect(!Self.isVisible(redaction.body(Data(said.utf8), said.first == "{" ? .json : .text)))
            }
        }
    }

    // Credentials with a known shape.

    static let shapes =
        "abcdeoprs".map { "xox\($0)-123456789012-fr3shc4nary" } + [
            "Bearer fr3sh-c4nary", "bearer fr3sh-c4nary", "Basic dXNlcjpmcjNzaA==",
            "https://ann:fr3sh-c4nary@h.example/", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjNG5hcnkifQ.fr3sh-c4nary",
            "ghp_fr3shc4nary0123456789", "github_pat_11fr3shc4nary", "sk_live_fr3shc4nary012345",
            "sk-proj-fr3shc4nary0123456789", "AKIAFR3SHC4NARY01234", "AIzaSyFr3shc4nary0123456789",
            "-----BEGIN PRIVATE KEY-----\nfr3shc4nary\nMIIE\n-----END PRIVATE KEY-----",
            "-----BEGIN EC PRIVATE KEY-----\nfr3shc4nary",
        ]

    /// The part of a shape that must not be shown.
    static func secret(in shape: String) -> String {
        shape.hasPrefix("Basic") ? "dXNlcjpmcjNzaA" : shape.hasPrefix("AKIA") ? "FR3SHC4N" : "r3sh"
    }

    static let places: [@Sendable (String) -> (MediaType, String)] = [
        { (.text, $0) }, { (.text, "I got <\($0)>, which is wrong") }, { (.json, json(["a": [$0]])) },
        { (.json, json(["a": "got '\($0)'\n"])) }, { (.json, json(["a": json(["b": $0])])) },
        { (.form, "a=\($0.percentEncoded(.form).replacing(" ", with: "+"))") },
        { (.text, "/?a=\($0.percentEncoded(.unreserved))") },
        { ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\($0)\r\n--b--") },
    ]

    @Test(arguments: shapes.filter { !$0.hasPrefix("--") && !$0.hasPrefix("https") })
    func `a credential with a known shape is hidden in a path, behind an escape`(shape: String) {
        for before in ["ada%3A", "a%20", "%e2%82%ac", "%E2%82%AC", "%ED%81%B0"] {
            let shown = Redaction.standard.url("https://h.example/\(before)\(shape.percentEncoded(.unreserved))")
            #expect(shown.contains(before) && shown.contains("***"), "\(shown)")
            #expect(!shown.lowercased().contains("c4nary") && !shown.contains("dXNlcjpmcjNzaA"), "\(shown)")
        }
    }

    @Test(arguments: [
        "/plans/Basic%20Plan%20A/users", "/a/Basic%20Caf%C3%A9/b", "/bearer%20of%20news/2024-01-01-edition",
    ])
    func `ordinary words behind an escape are shown`(path: String) {
        #expect(Redaction.standard.url("https://h.example\(path)") == "https://h.example\(path)")
    }

    @Test(arguments: shapes) func `a credential with a known shape is hidden`(shape: String) {
        for place in Self.places {
            let (type, text) = place(shape)
            for shown in [
                Redaction.standard.body(Data(text.utf8), type), Redaction.standard.masked(text),
                String(decoding: Redaction.standard.sentBody(Data(text.utf8), type), as: UTF8.self),
            ] {
                #expect(!shown.contains(Self.secret(in: shape)), "\(shown)")
            }
        }
    }

    /// Secrets in text of a format that is not parsed, which cannot be told from other words.
    static let unrecognized = [
        "your new key is X": "no name stands by it, and the client has never had it", "password: X": "prose, or YAML",
        "{token: 'X'}": "no JSON",
        "mutation { login(password: \\\"X\\\") { id } }": "GraphQL with a value in the query",
        "user,password\nann,X": "CSV", "dG9rZW49ZnIzc2gtYzRuYXJ5": "base64",
    ]

    @Test(arguments: unrecognized.keys.sorted()) func `secrets in text that is not parsed are shown`(text: String) {
        let said = text.replacing("X", with: "fresh-canary")
        #expect(Redaction.standard.masked(said) == said)
    }

    @Test func `text of a format that is not parsed is shown as its size and type`() {
        for type in ["text/html", "application/xml", "image/svg+xml", "application/yaml", "text/csv", "a/b"] {
            for said in ["password: X", "<p>X</p>"] {
                let shown = "<\(said.utf8.count) bytes \(type)>"
                #expect(Redaction.standard.body(Data(said.utf8), MediaType(type)) == shown)
                #expect(Redaction.standard.sentBody(Data(said.utf8), MediaType(type)) == Data(shown.utf8))
            }
        }
        #expect(Redaction.standard.body(Data(" <a>X</a>".utf8), .text) == "<9 bytes text/plain>")
        #expect(Redaction.none.body(Data("<a>X</a>".utf8), "application/xml") == "<a>X</a>")
        #expect(Redaction.none.sentBody(Data("<a>X</a>".utf8), .html) == Data("<a>X</a>".utf8))
    }

    // Every place where the library shows something of a call.

    private struct Model: Decodable { var id: Int }
    private struct APIError: Error, Decodable { var reason: Int }
    private struct Own: LocalizedError, CustomStringConvertible {
        var description: String
        var errorDescription: String? { description }
    }

    @Test(arguments: [
        (MediaType.text, "You have sent X, which is wrong."), (.json, #"{"error":"you have sent X to us","id":"x"}"#),
        (.json, "you have sent X"), (.html, "<html><title>No X</title><p>X</p>"),
        ("application/xml", "<error who=\"X\"/>"),
        (.form, "error=no&a=X&b=1"), (.problem, #"{"title":"no X","detail":"X","instance":"/a/X","id":"x"}"#),
        (.json, #"{"id":"x","password":"X","a":{"token":["X"]}}"#), (.octetStream, "\u{1}X"),
    ])
    func `a secret is hidden in every place`(type: MediaType, template: String) throws {
        let secret = "s3cret-c4nary"
        let request = URLRequest.with(.init(host: "https://h.example/a")) {
            $0.method = .post
            $0.query["access_token"] = secret
            $0.authorization = .bearer(secret)
            $0.body = ["password": secret]
        }
        let said = template.replacing("X", with: secret)
        var response = DataResponse(request: request, status: .badRequest, data: Data(said.utf8))
        response.headerFields[.contentType] = type.description
        response.headerFields[HTTPField.Name("Link")!] = "</next?a=\(secret)>; rel=\"next\"; title=\"t\""
        response.url = URL(string: "https://h.example/a?said=\(secret)")
        var shown = [response.bodyString, request.urlString, request.bodyString, request.cURL()]
        func show(_ value: Any) {
            shown.append("\(value)")
            dump(value, to: &shown[shown.count - 1])
        }
        show(response)
        show(response.links)
        show(response.problem as Any)
        let cause = NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: said, "x": said])
        let details = [
            NSLocalizedDescriptionKey: said, NSURLErrorFailingURLErrorKey: response.url as Any,
            NSUnderlyingErrorKey: cause,
        ]
        var errors: [any Error] = [
            URLError(.timedOut, userInfo: details),
            RequestError(.decoding, reason: said, request: request, underlyingError: URLError(.badURL)),
        ]
        for step in [
            { try response.validated() }, { _ = try response.decode(Model.self) },
            { try response.validated(orThrow: APIError.self) },
        ] as [() throws -> Void] {
            do { try step() } catch { errors.append(error) }
        }
        let known = Redaction.standard.knowing(request)
        let (logger, handler) = Logger.recording(level: .trace)
        let log = RequestLog(logger: logger, redaction: known, bodyLimit: 4096, fileID: "f", line: 1)
        log.sent(request)
        response.redaction = known
        log.received(response)
        for error in errors + [Own(description: said)] {
            let hidden = error.hiding(known)
            log.failed(request, hidden, after: .zero)
            var attempt = Attempt(redaction: known)
            attempt.error = hidden
            attempt.note = .init(text: "to ", url: response.url?.absoluteString)
            log.again(request, attempt)
            show(attempt)
            // The text of an app's own error is hidden only where the library shows it.
            if !(error is Own) { show(hidden) }
            if !(error is Own) { shown.append(hidden.localizedDescription) }
        }
        shown += handler.entries.map { "\($0.message) \($0.metadata)" }
        for text in shown { #expect(!text.contains(secret), "\(text)") }
    }
}
