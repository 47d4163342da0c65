import Foundation
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// Puts a secret, the canary, into requests and responses, and looks for it in everything that is shown.
///
/// One table has secrets that the client knows, in all spellings. The other has secrets that only the server knows,
/// under a name or with a known shape.
@Suite(.oneAtATime) struct CanaryTests {
    /// It contains characters that every format escapes differently.
    static let canary = "c4n&ry/<\"Zé+9%2f\\x~"
    static let user = "us3r-c4nary-name"

    static let encoded = canary.percentEncoded(.unreserved)
    private static let json = quoted(canary)
    private static let basic = Data("\(user):\(canary)".utf8).base64EncodedString()

    static func quoted(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(text)) ?? Data()
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }

    static func html(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    /// The places of the canary in a request.
    static let carriers: [(name: String, request: URLRequest)] = [
        carrier("bearer") { $0.authorization = .init { $0[.authorization] = "Bearer plain-c4nary" } },
        carrier("basic") { $0.authorization = .basic(username: user, password: canary) },
        carrier("field") { $0.headers[HTTPField.Name("X-Api-Key") ?? .accept] = canary.replacing("é", with: "e") },
        carrier("cookie") { $0.headers[.cookie] = "theme=dark-one; sid=\(encoded)" },
        carrier("query") { $0.query["access_token"] = canary },
        carrier("code") { $0.query["code"] = canary },
        carrier("fragment") { $0.modify = { $0.url = URL(string: "https://h.example/#token=\(encoded)") } },
        carrier("userinfo") { $0.modify = { $0.url = URL(string: "https://\(user):\(encoded)@h.example/a") } },
        carrier("form", post: true) { $0.body = .form(["grant_type": "password", "password": canary]) },
        carrier("json", post: true) { $0.body = ["a": 1, "password": canary] },
        carrier("nested json", post: true) { $0.body["user"] = ["token": ["value": canary, "b": "c"]] },
        carrier("json in json", post: true) { $0.body = ["a": "{\"password\":\"\(quoted(canary))\"}"] },
        carrier("graphql", post: true) {
            $0.body = ["query": "mutation { login(password: \"\(quoted(canary))\") { id } }"]
        },
        carrier("xml", post: true) {
            $0.body = .text("<login><password>\(html(canary))</password></login>", contentType: "application/xml")
        },
        carrier("text", post: true) { $0.body = .text("user: ann\npassword = \(encoded)\n") },
        carrier("multipart", post: true) { config in
            var form = MultipartForm()
            form.append("title", "t")
            form.append("password", canary)
            config.body = .multipart(form)
        },
    ]

    private static func carrier(
        _ name: String, post: Bool = false, _ configure: (inout URLRequest.Config) -> Void
    ) -> (String, URLRequest) {
        (
            name,
            URLRequest.with(.init(host: "https://h.example/a")) {
                if post { $0.method = .post }
                configure(&$0)
            }
        )
    }

    /// The spellings of the canary.
    static let spellings: [(name: String, spell: @Sendable (String) -> String)] = [
        ("as it is", { $0 }), ("percent", { $0.percentEncoded(.unreserved) }),
        ("percent in lower case", { $0.percentEncoded(.unreserved).replacing(/%../) { $0.0.lowercased() } }),
        ("every byte", { $0.utf8.map { "%" + String(0x100 | Int($0), radix: 16).suffix(2) }.joined() }),
        ("form", { $0.percentEncoded(.form) }), ("json", quoted), ("json twice", { quoted(quoted($0)) }),
        (
            "json with unicode escapes",
            { $0.utf16.map { "\\u" + String(0x10000 | Int($0), radix: 16).suffix(4) }.joined() }
        ),
        ("json without slashes escaped", { quoted($0).replacing("\\/", with: "/") }), ("html", html),
        ("html with numbers", { $0.unicodeScalars.map { "&#\($0.value);" }.joined() }),
        ("html with hexadecimal numbers", { $0.unicodeScalars.map { "&#x\(String($0.value, radix: 16));" }.joined() }),
        ("html in json", { quoted(html($0)) }),
        ("percent in json in html", { html(quoted($0.percentEncoded(.pathAndQuery))) }),
        ("base64", { Data($0.utf8).base64EncodedString() }),
        ("base64 after one byte", { Data("x\($0)".utf8).base64EncodedString() }),
        ("base64 after two bytes", { Data("xy\($0)z".utf8).base64EncodedString() }),
        ("percent twice", { $0.percentEncoded(.unreserved).percentEncoded(.unreserved) }),
        ("cut", { String($0.prefix(12)) + "…" }), ("cut by dots", { String($0.prefix(12)) + "..." }),
    ]

    /// Responses with the canary.
    static let sayings: [(name: String, type: MediaType?, say: @Sendable (String) -> String)] = [
        ("prose", .text, { "You have sent \($0), which is wrong." }), ("alone", nil, { $0 }),
        ("JSON string", .json, { #"{"error":"you have sent \#($0) to us","id":"x"}"# }),
        ("no JSON", .json, { "you have sent \($0)" }), ("HTML", .html, { "<html><title>No \($0)</title><p>\($0)</p>" }),
        ("XML", "application/xml", { "<error who=\"\($0)\">\($0)</error>" }),
        ("form", .form, { "error=no&a=\($0)&b=1" }),
        ("problem", .problem, { #"{"title":"no \#($0)","detail":"\#($0)","instance":"/a/\#($0)","id":"x"}"# }),
        ("long", .json, { #"{"id":"x","a":"\#(String(repeating: "lorem ipsum ", count: 80))\#($0)"}"# }),
        ("binary", .octetStream, { "\u{1}\($0)" }),
    ]

    @Test(arguments: carriers.indices) func `what a client knows is shown nowhere`(carrier: Int) throws {
        let (name, request) = Self.carriers[carrier]
        let secret =
            name == "bearer" ? "plain-c4nary" : name == "field" ? Self.canary.replacing("é", with: "e") : Self.canary
        // Each carrier is tested with each spelling and each saying, but only a tenth of their pairs: two in each saying.
        for (column, (saying, type, say)) in Self.sayings.enumerated() {
            let row = (column + carrier) % 10
            let pair = [Self.spellings[row], Self.spellings[row + 10]]
            let spelled = (carrier.isMultiple(of: 2) ? pair : pair.reversed()).map { $0.spell(secret) }
            // Some spellings are invalid in a JSON string: that is tested, too.
            let said = say(spelled.joined(separator: " and "))
            let own = RequestError(
                .decoding, reason: said, request: request, underlyingError: URLError(.badURL))
            for (place, shown) in try Self.places(request, type, said) + [("reason", "\(own) \(own.reason)")] {
                for text in spelled + [secret] {
                    #expect(!shown.contains(text), "\(name), \(row), \(saying), \(place): \(shown)")
                }
            }
        }
    }

    @Test(arguments: [0, 1, 2, 3, 5, 8, 12, 100]) func `a secret that a limit cuts is shown by three letters at most`(
        cut: Int
    ) {
        let request = Self.carriers[4].request
        let text = String(repeating: "x", count: 100) + Self.canary
        let shown = Redaction.standard.knowing(.init(request)).body(Data(text.utf8), .text, limit: 100 + cut)
        #expect(!shown.contains(Self.canary.prefix(4)))
    }

    static let fresh = "fr3sh-c4nary"
    static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjNG5hcnkifQ.fr3sh-c4nary"

    static let tellings = [
        #"{"token":"X"}"#, #"{"a":{"access_token" : "X"}}"#, #"{"tokens":["X"]}"#, #"{"password":{"new":"X"}}"#,
        #"{"token":"X"#,
        #"{token: "X"}"#, #"{'token': 'X'}"#, "{token: 'X'}", "{token: X}", "{a: 1, api_key: X, b: 2}", "{token: `X`}",
        #"{"a":"{\"token\":\"X\"}"}"#, #"{"a":"[{\"b\":\"{\\\"pin\\\":\\\"X\\\"}\"}]"}"#, #"{"to\u006ben":"X"}"#,
        #"{"query":"mutation { login(password: \"X\") { id } }"}"#, #"mutation { login(password: "X") { id } }"#,
        "mutation { login(password: \"\"\"X\"\"\") { id } }", #"callback({"token":"X"});"#,
        "data: {\"token\":\"X\"}\n\n",
        "token=X", "a=1&token=X&b=2", "a=1; token=X", "status=401 token=X user=7", "token = X", "token='X'",
        "token=\"X\"",
        "token := \"X\"", "'token' => 'X'", "token: X", "Your token: X", "password: \"X\"", "- password: X",
        "API key: X",
        "HTTP/1.1 200 OK\nSet-Cookie: sid=X; Path=/\n", "x-api-key: X\nb: 1", "Authorization: Digest response=\"X\"",
        "see https://h.example/?access_token=X for more", "see https://ann:X@h.example/",
        "https://h.example/cb?code=X&a=b",
        "https://h.example/?next=https%3A%2F%2Fh.example%2F%3Ftoken%3DX%26a%3Db",
        "https://h.example/a;jsessionid=X?a=b",
        "<token>X</token>", "<ns:Password type=\"t\">X</ns:Password>", "<secret><![CDATA[X]]></secret>",
        "<token value=\"X\"/>",
        "<token><value>X</value></token>", "<user token=\"X\" name='n'/>", "<user token='X'/>",
        "<input type=\"hidden\" name=\"csrf_token\" value=\"X\">", "<input value=\"X\" name=\"csrf_token\">",
        "<meta name=\"csrf-token\" content=\"X\">", "<entry key=\"password\">X</entry>",
        "<key>password</key>\n<string>X</string>",
        "Bearer X", "use bearer X instead", "<p>Basic X</p>", #"{"a":["Bearer X"]}"#,
        #"{"name":"Authorization","value":"Basic X"}"#,
        "J", #"{"a":"J"}"#, "<a>J</a>", "see https://h.example/verify/J?a=b", "a: J", "id_jwt J",
    ]
    static let types: [MediaType?] = [.json, .text, .html, "application/xml", .form, nil]

    @Test(arguments: tellings.indices) func `what a server says under a name or in a shape is shown nowhere`(row: Int)
        throws
    {
        let telling = Self.tellings[row]
        let said = telling.replacing("X", with: Self.fresh).replacing(
            "J", with: telling.contains("J") && !telling.contains("X") ? Self.jwt : "J")
        let request = Self.carriers[9].request
        for (column, type) in Self.types.enumerated() {
            let body = Data(said.utf8)
            var places = [
                ("body", Redaction.standard.body(body, type)),
                ("sent", String(decoding: Redaction.standard.sentBody(body, type), as: UTF8.self)),
            ]
            // Tests every place with two of the types.
            if (row + column).isMultiple(of: 3) { places += try Self.places(request, type, said) }
            for (place, shown) in places {
                #expect(!shown.contains(Self.fresh), "\(type?.essence ?? "no type"), \(place): \(shown)")
            }
        }
    }

    /// Secrets that cannot be recognized, and the reason.
    static let unknowable = [
        ("your new key is X", "no name stands by it, and the client has never had it"),
        ("user,password\nann,X", "the name of a column is far from its values"),
        ("password: |\n  X", "a block of YAML: names and values of other languages are told by one line"),
        ("dG9rZW49ZnIzc2gtYzRuYXJ5", "base64 of what a client does not know"),
    ]

    @Test(arguments: unknowable) func `secrets that cannot be recognized are shown, and nothing else`(
        telling: String, reason: String
    ) throws {
        let shown = Redaction.standard.masked(telling.replacing("X", with: Self.fresh))
        #expect(shown.contains(telling.contains("X") ? Self.fresh : telling))
    }

    @Test(arguments: [
        "token: is required", "Invalid token: expired", "password must have 8 characters",
        "password: must have 8 characters", "token: invalid", "The token has expired: sign in again",
        "Bearer token missing", "Bearer authentication is required",
        "WWW-Authenticate: Bearer realm=\"api\", error=\"invalid_token\"", "Basic auth is not supported",
        "pin: too short", "password: doesn't match", "secret: cannot be blank", "session: unknown", "page=2 of 7",
        "a: b, c: d", "x = y", #"{"code":404,"message":"token: is required"}"#, #"{"code":"not_found"}"#,
        #"{"label":"Password:","id":"x y"}"#, "ann@h.example: unknown user", "<p>Password:</p><p>text</p>",
        "Invalid password: too short (minimum is 8 characters)",
    ])
    func `what is no secret stays readable`(text: String) {
        for type in [.text, nil, .html, .problem] as [MediaType?] {
            let shown = String(decoding: Redaction.standard.sentBody(Data(text.utf8), type), as: UTF8.self)
            #expect(shown == text)
        }
        #expect(Redaction.standard.masked(text) == text)
    }

    private struct Model: Decodable { var id: Int }

    private struct Own: LocalizedError, CustomStringConvertible {
        var description: String
        var errorDescription: String? { description }
    }

    /// Everything that is shown of a call with a response.
    static func places(_ request: URLRequest, _ type: MediaType?, _ said: String) throws -> [(String, String)] {
        let known = Redaction.standard.knowing(KnownSecrets(request))
        let encoded = said.percentEncoded(.unreserved)
        var response = DataResponse(request: request, status: .badRequest, data: Data(said.utf8))
        response.headerFields[.contentType] = type?.description
        response.headerFields[HTTPField.Name("Link")!] = "</next?a=\(encoded)>; rel=\"next\"; title=\"t\""
        response.url = URL(string: "https://h.example/a?said=\(encoded)")
        var echo = request
        echo.setValue(said.onOneLine, forHTTPHeaderField: "X-Said")
        echo.httpMethod = "POST"
        echo.httpBody = echo.httpBody ?? Data(said.utf8)
        var places = [
            ("bodyString", response.bodyString), ("urlString", request.urlString), ("request body", request.bodyString),
            ("cURL", request.cURL()), ("cURL of an echo", echo.cURL()),
        ]
        func show(_ name: String, _ value: Any) {
            places += [(name, "\(value)"), ("dump of " + name, dumped(value))]
        }
        show("response", response)
        show("links", response.links)
        show("problem", response.problem as Any)
        let cause = NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: said, "x": said])
        var errors: [any Error] = [
            URLError(
                .timedOut,
                userInfo: [
                    NSLocalizedDescriptionKey: said, NSURLErrorFailingURLErrorKey: response.url as Any,
                    NSUnderlyingErrorKey: cause,
                ])
        ]
        for step in [
            { try response.validated() }, { _ = try response.decode(Model.self) },
            { try response.validated(orThrow: APIError.self) },
        ] as [() throws -> Void] {
            do { try step() } catch { errors.append(error) }
        }
        let (logger, handler) = Logger.recording()
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
            show("attempt", attempt)
            // What an app's own error says is hidden only where the library shows it.
            if !(error is Own) {
                show("error", hidden)
                places.append(("localizedDescription", hidden.localizedDescription))
            }
        }
        return places + handler.entries.map { ("log", "\($0.message) \($0.metadata)") }
    }

    private struct APIError: Error, Decodable { var reason: Int }

    private static func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
