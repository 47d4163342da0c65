import Testing

@testable import URLConfig

/// Which names are hidden, in URLs, forms and texts.
@Suite struct RedactionTests {
    @Test(arguments: [
        "Authorization", "authorization", "AUTHORIZATION", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key",
        "api_key", "apikey", "apiKey", "token", "Token", "access_token", "refreshToken", "id-token", "X-Auth-Token",
        "X-CSRF-Token", "X-Amz-Security-Token", "user[token]", "tokens.token", "password", "Password", "new_password",
        "client_secret", "secret", "passwd", "passphrase", "private_key", "client_assertion", "X-Amz-Signature", "sig",
        "pin", "cvv", "auth", "password_confirmation", "JSESSIONID", "PHPSESSID", "password[0]", "token1", "bearer",
        "id_token_hint", "SAMLResponse", "tokens", "user[tokens]", "refreshTokens", "new_password", "password_confirm",
        "passwordConfirm", "old-password-2", "db_pass", "dbPass", "user_pin", "userPin", "id_jwt", "signing_key",
        "master_key", "encryption_key", "X-Session", "DD-APPLICATION-KEY", "device_code", "user_code",
        "verification_code", "mfa_code", "otp_code", "totp", "session", "ssn", "card_number", "cardNumber", "iban",
        "cvv", "customer.ssn", "passwords_confirmed", "secret_value", "password_hash", "code_verifier", "pass word",
        "p.a.s.s.w.o.r.d", "appid", "ticket", "x-hmac", "psk", "passkey", "pan", "security_code", "card.number",
        "tls.key",
    ])
    func `common secrets are hidden`(name: String) {
        #expect(Redaction.standard.hides(name))
    }

    @Test(arguments: [
        "Accept", "Content-Type", "User-Agent", "Host", "page", "query", "title", "spin", "code", "status_code",
        "countryCode", "password_length", "token_type", "compass", "app_id", "key", "license_key", "panel", "japan",
        "caribbean", "assn", "design", "author", "oauthor", "tokenizer", "secretary", "passage", "", "-", "\u{1F600}",
        "WWW-Authenticate",
    ])
    func `values that are not secret are shown`(name: String) {
        #expect(!Redaction.standard.hides(name))
    }

    @Test(arguments: [
        (
            #"{"a":{"pin":1234,"user_pin":1234,"otp_code":7}}"#,
            #"{"a":{"pin":"***","user_pin":"***","otp_code":"***"}}"#
        ),
        (
            #"{"token":5,"my_token":5,"tokens":5,"my_tokens":5}"#,
            #"{"token":"***","my_token":5,"tokens":5,"my_tokens":5}"#
        ),
        (#"{"token":true,"my_token":null,"tokens":false}"#, #"{"token":true,"my_token":null,"tokens":false}"#),
        (#"{"tokens":["a","5","abc123"],"my_token":"a"}"#, #"{"tokens":["a","5","***"],"my_token":"***"}"#),
        (
            #"{"pins":["1234"],"passwords":["1"],"pin":[1,2]}"#,
            #"{"pins":["***"],"passwords":["***"],"pin":["***","***"]}"#
        ),
        (
            #"{"value":["s3","s4"],"name":"password"} {"value":{"a":"s3"},"key":"token"} {"value":[1],"name":"tokens"}"#,
            #"{"value":"***","name":"password"} {"value":"***","key":"token"} {"value":[1],"name":"tokens"}"#
        ),
        (
            #"{"user_sid":7,"sid":7,"sids":["AC0123456789abcdef0123456789abcdef"]}"#,
            #"{"user_sid":7,"sid":"***","sids":["AC0123456789abcdef0123456789abcdef"]}"#
        ),
        (#"[{"value":["a"]},{"name":"password"}]"#, #"[{"value":["a"]},{"name":"password"}]"#),
        (#"{"token":{"id":1,"a":"x","b":"abc123"}}"#, #"{"token":{"id":1,"a":"x","b":"***"}}"#),
        (
            #"{"tokens":{"a":"abc123"},"my_token":{"a":"abc123"}}"#,
            #"{"tokens":{"a":"abc123"},"my_token":{"a":"abc123"}}"#
        ),
        (
            #"{"my_token":{"value":"x","a":1},"card":{"number":4}}"#,
            #"{"my_token":{"value":"***","a":1},"card":{"number":"***"}}"#
        ),
        (#"{"api":{"key":"x"},"license":{"key":"x"}}"#, #"{"api":{"key":"***"},"license":{"key":"x"}}"#),
        (
            #"[{"name":"pin","value":1234},{"value":"a","key":"x_token"}]"#,
            #"[{"name":"pin","value":"***"},{"value":"***","key":"x_token"}]"#
        ),
        (
            #"{"auth":"None","token":"","sid":"AC0123456789abcdef0123456789abcdef"}"#,
            #"{"auth":"None","token":"","sid":"AC0123456789abcdef0123456789abcdef"}"#
        ),
        ("max_tokens=5&tokens=6m0s&token=5&pin=1&key=k", "max_tokens=5&tokens=6m0s&token=***&pin=***&key=***"),
    ])
    func `counts, settings and objects under hidden names are shown`(text: String, expected: String) {
        let type: MediaType = text.hasPrefix("m") ? .form : .json
        #expect(String(decoding: Redaction.standard.sentBody(Data(text.utf8), type), as: UTF8.self) == expected)
    }

    @Test func `under a name that an app adds, everything is hidden`() {
        let text = #"{"age":[7,true,null],"my_age":{"a":"b","c":1},"ages":"x","page":1}"#
        let shown = Redaction.standard.adding("age").sentBody(Data(text.utf8), .json)
        #expect(
            String(decoding: shown, as: UTF8.self)
                == #"{"age":["***","***","***"],"my_age":{"a":"***","c":"***"},"ages":"***","page":1}"#)
        for name in ["X-Flag", "card_value", "old", "user-new", "tls.key"] {
            #expect(Redaction.standard.adding(name).masked(field: name, "true") == "***")
        }
    }

    @Test func `an app adds names, in any case and punctuation`() {
        let redaction = Redaction.standard.adding("vat", "X-Tenant-Key")
        #expect(redaction.hides("VAT") && redaction.hides("v.a.t"))
        #expect(!redaction.hides("elevat"))
        #expect(redaction.hides("x_tenant_key") && redaction.hides("My-X-Tenant-Key"))
        #expect(redaction.hides("password"))
        #expect(!Redaction.standard.hides("vat"))
        #expect(Redaction.standard.adding("", "--") == .standard)
    }

    @Test func `letters with accents may be written in two ways, and escapes in two character sets`() {
        let name = "numéro de sécurité sociale"
        let redaction = Redaction.standard.adding(name.precomposedStringWithCanonicalMapping, "contraseña", "clé")
        #expect(redaction.hides(name.decomposedStringWithCanonicalMapping))
        #expect(redaction.hides(name.precomposedStringWithCanonicalMapping))
        for item in ["contrase%F1a=S3CRET", "contrase%C3%B1a=S3CRET", "x=1&contrase%f1a=S3CRET", "cl%E9=S3CRET"] {
            #expect(!redaction.url("http://h/?\(item)").contains("S3CRET"))
        }
    }

    @Test func `none hides nothing, or only the names that are added`() {
        #expect(!Redaction.none.hides("password"))
        #expect(Redaction.none.url("https://u:p@h/?token=t#token=t") == "https://u:p@h/?token=t#token=t")
        #expect(Redaction.none.body(Data(#"{"token":1}"#.utf8), .json) == "{\n  \"token\" : 1\n}")
        let own = Redaction.none.adding("mine")
        #expect(own.hides("mine") && !own.hides("password"))
        #expect(own.url("https://u:p@h") == "https://***@h")
    }

    @Test func `a code is a secret in queries and forms, and readable in JSON`() {
        #expect(
            Redaction.standard.url("https://h.example/cb?code=s3cret&state=x")
                == "https://h.example/cb?code=***&state=x")
        #expect(Redaction.standard.body(Data("code=s3cret&a=1".utf8), .form) == "code=***&a=1")
        for json in [#"{"code":404}"#, #"{"code":"not_found"}"#] {
            #expect(Redaction.standard.sentBody(Data(json.utf8), .json) == Data(json.utf8))
        }
    }

    @Test func `a long name takes no time`() {
        let name = String(repeating: "a", count: 1_000_000)
        #expect(!Redaction.standard.hides(name))
        #expect(Redaction.standard.hides(name + "_password"))
    }

    @Test(arguments: [
        ("a\r\nb", "a\\u{d}\nb"), ("\u{1B}[31mred", "\\u{1b}[31mred"), ("\u{0}\u{7}\u{8}", "\\u{0}\\u{7}\\u{8}"),
        ("\u{7F}\u{9B}", "\\u{7f}\\u{9b}"), ("\u{202E}abc\u{2066}", "\\u{202e}abc\\u{2066}"), ("\u{2028}", "\\u{2028}"),
        ("\u{61C}", "\\u{61c}"), ("a\tb\nc", "a\tb\nc"), ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"),
        ("e\u{301}", "e\u{301}"), ("", ""),
    ])
    func `control and text-direction characters are escaped`(text: String, expected: String) {
        #expect(Array(text.escapingControls.unicodeScalars) == Array(expected.unicodeScalars))
    }

    // URLs, queries and forms.

    @Test(arguments: [
        ("https://h.example/a?page=1", "https://h.example/a?page=1"),
        ("https://u:s3cret@h.example/a", "https://***@h.example/a"),
        ("https://s3cret@h.example", "https://***@h.example"),
        ("https://u:s3@cret@h.example:8080/@a", "https://***@h.example:8080/@a"),
        ("https://h.example/@a/b@c?d=e@f", "https://h.example/@a/b@c?d=e@f"),
        ("//u:s3cret@h.example", "//***@h.example"), ("https://h.example\\@s3.example", "https://***@s3.example"),
        ("u:s3cret@h.example", "***@h.example"), ("https://u:s3cret@\u{301}h.example", "https://***@\u{301}h.example"),
        ("/a@b/c", "/a@b/c"), ("", ""), ("https://h.example?token=s3cret", "https://h.example?token=***"),
        ("https://h.example/?a=1&access_token=s3cret&b=2", "https://h.example/?a=1&access_token=***&b=2"),
        ("https://h.example/?a=1#id_token=s3cret&b=2", "https://h.example/?a=1#id_token=***&b=2"),
        ("https://h.example/?token=s3cret#top", "https://h.example/?token=***#top"),
        ("https://h.example/#/page?token=s3cret", "https://h.example/#/page?token=***"),
        ("https://h.example/?user%5Btoken%5D=s3cret", "https://h.example/?user%5Btoken%5D=***"),
        ("https://h.example/?tok%65n=s3cret", "https://h.example/?tok%65n=***"),
        ("https://h.example/?token=s3cret=s3cret", "https://h.example/?token=***"),
        ("https://h.example/?token=a;s3cret?s3cret/s3cret", "https://h.example/?token=***"),
        ("https://h.example/?a=1;token=s3cret", "https://h.example/?a=1;token=***"),
        ("https://h.example/??token=s3cret&&token=s3cret", "https://h.example/??token=***&&token=***"),
        ("https://h.example/?token=\u{301}s3cret", "https://h.example/?token=***"),
        ("https://h.example/?\u{301}token=s3cret", "https://h.example/?\u{301}token=***"),
        ("https://h.example/?token", "https://h.example/?token"),
        ("https://h.example/?token=", "https://h.example/?token="), ("/?key=s3cret&code=s3cret", "/?key=***&code=***"),
        ("/?next=https%3A%2F%2Fa%3Ab@h%2F%3Fa%3D1", "/?next=https%3A%2F%2F***%40h%2F%3Fa%3D1"),
        ("https://h.example/?%zztoken=s3cret", "https://h.example/?%zztoken=***"),
        // A query behind what only looks like an item, and apostrophes, which a URL may have (RFC 3986 §2.2).
        ("https://h.example/v=1?password=correct%20horse", "https://h.example/v=1?password=***"),
        ("https://h.example/U(ID=7)?token=a%26b&c=2", "https://h.example/U(ID=7)?token=***&c=2"),
        ("/login?next=/cb?code=4/0AX+abc", "/login?next=/cb?code=***"),
        ("https://h.example/?password=it's-secret&a=1", "https://h.example/?password=***&a=1"),
        ("https://h.example/?password='ab'cdef&a=1", "https://h.example/?password=***&a=1"),
        (
            "https://h.example/items;v=1?user%5Bpassword%5D=correct%20horse",
            "https://h.example/items;v=1?user%5Bpassword%5D=***"
        ),
        ("https://h.example/?password=\"s3cret\"", "https://h.example/?password=\"***\""),
        // Text that only looks like a query belongs to the value.
        ("/login?next=/reset?token%3Ds3cret", "/login?next=%2Freset%3Ftoken%3D***"),
        // Nothing to hide, or hidden already: nothing is written again.
        ("https://h.example/?discount=100%25", "https://h.example/?discount=100%25"),
        ("/?q=50%&a=100%25+wool", "/?q=50%&a=100%25+wool"),
        (
            "/?next=https%3A%2F%2Fuser%3Apw%40h%2Fa%2520b", "/?next=https%3A%2F%2F***%40h%2Fa%2520b"
        ),
        (
            "https://h/odata/ConfirmEmail(token='s3cr3tvalue',user='ada')?$select=Name&$top=5",
            "https://h/odata/ConfirmEmail(token='***',user='ada')?$select=Name&$top=5"
        ),
        ("https://h/Sessions(sessionId='abc')/items?page=2", "https://h/Sessions(sessionId='***')/items?page=2"),
        ("/?a=%25252520x", "/?a=%25252520x"), ("/?Key=s3cret&CODE=s3cret&k%65y=s3cret", "/?Key=***&CODE=***&k%65y=***"),
        ("/r/https%3A%2F%2Fh%2F%3Ftoken%3Ds3cret/a", "/r/https%3A%2F%2Fh%2F%3Ftoken%3D***/a"),
        ("/?https%3a%2f%2fu%3apw%40h%2f", "/?https%3A%2F%2F***%40h%2F"),
        ("/r/https%3A%2F%2Fh%2Fa?b=1", "/r/https%3A%2F%2Fh%2Fa?b=1"),
        ("/r/https%3A%2F%2Fh;password=a%20b", "/r/https%3A%2F%2Fh;password=***"),
        ("/?https%3A%2F%2Fh%2Fpassword=a+b%26c", "/?https%3A%2F%2Fh%2Fpassword=***"),
        ("/r/https%3A%2F%2Fu%3Apw=x%40h%2Fa", "/r/https%3A%2F%2F***%40h%2Fa"),
        ("/r/https%3A%2F%2Fh%2F%3Ftoken%3Dabc=def", "/r/https%3A%2F%2Fh%2F%3Ftoken%3D***"),
        ("/items;v=%5B1%5D?password=correct%20horse", "/items;v=%5B1%5D?password=***"),
        ("/?q=%20%7B%22password%22:%22hun?t=er%22%7D", "/?q=%20%7B%22password%22%3A%22***%22%7D"),
        ("/login?next=/cb?q=token%253Dabc123", "/login?next=/cb?q=token%253D***"),
        ("/items;v=%221%22?password=correct%20horse", "/items;v=%221%22?password=***"),
        ("/?a=1;token=abc?def&b=2", "/?a=1;token=***&b=2"), ("/?a=1;token=hun?ter=2&b", "/?a=1;token=***&b"),
        ("https://h.example/\u{1B}[2J", "https://h.example/\\u{1b}[2J"),
    ])
    func `userinfo and hidden items are masked`(text: String, expected: String) {
        let shown = Redaction.standard.url(text)
        #expect(shown.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(shown)")
    }

    @Test(arguments: [
        ("user=u&password=s3cret", "user=u&password=***"), ("password=s3;cret?x#y&a=1", "password=***&a=1"),
        ("pass+word=s3cret&a=b+c", "pass+word=***&a=b+c"),
        ("a=b?password=s3cret+two", "a=b?password=***"), ("note=token=abc?def&b=2", "note=token=***&b=2"),
        (
            "data=%7B%22q%22:%22why?%22,%22password%22:%22hunter2%22%7D",
            "data=%7B%22q%22%3A%22why%3F%22%2C%22password%22%3A%22***%22%7D"
        ),
        (
            "data=%7B%22q%22:%22https://h/r?x=1%22,%22password%22:%22hunter2%22%7D",
            "data=%7B%22q%22%3A%22https%3A%2F%2Fh%2Fr%3Fx%3D1%22%2C%22password%22%3A%22***%22%7D"
        ),
        (
            "data=%7B%22ticket%22:%22https://h/r?t=abc123%22%7D&a=1",
            "data=%7B%22ticket%22%3A%22***%22%7D&a=1"
        ),
        ("password=s3cret=\u{301}&b", "password=***&b"), ("&&=&a", "&&=&a"), ("", ""),
    ])
    func `hidden items of a form are masked, even without a content type`(form: String, expected: String) {
        // Foundation sends a body without a content type as a form.
        for type in [.form, nil] as [MediaType?] {
            #expect(Redaction.standard.body(Data(form.utf8), type) == expected)
            #expect(Redaction.standard.sentBody(Data(form.utf8), type) == Data(expected.utf8))
        }
    }

    // Text of a server in every place where an error shows it.

    private static let secrets = [
        "Authorization: Bearer s3cret", "status=401 token=s3cret", "status=401\ntoken=s3cret", "a=1,token=s3cret",
        "token='s3cret s3cret'", "token=\"s3cret s3cret\"", "bad bearer s3cret here", "{'a':1,\"token\": s3cret}",
        "GET https://user:s3cret@host.example/x failed", "see https://host.example/?q=1&access_token=s3cret",
        #"upstream {"token":"s3cret"}"#, #"callback({"a":1,"token" : "s3cret"});"#,
    ]

    @Test(arguments: secrets) func `a secret is masked, however it is named`(words: String) throws {
        #expect(!Redaction.standard.masked(words).contains("s3cret"))
        #expect(Redaction.none.masked(words) == words)
        #expect(!"\(Problem(title: words, detail: words))".contains("s3cret"))
        let json = String(decoding: try JSONEncoder().encode(["error": words]), as: UTF8.self)
        for content in [words, json, "<html><title>\(words)</title>"] {
            let response = DataResponseTests.response(content.utf8, status: .badRequest)
            let error = try #require(throws: RequestError.self) { try response.validated() }
            #expect(!"\(error) \(error.localizedDescription)".contains("s3cret"))
        }
        let member = String(decoding: try JSONEncoder().encode(["a": words, "id": "x"]), as: UTF8.self)
        for content in [member, json, words] {
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response(content.utf8).decode(Model.self)
            }
            #expect(!"\(error as Any)".contains("s3cret"), "\(error as Any)")
        }
    }

    @Test(arguments: [
        "Invalid token: expired", "Unauthorized: no such user", "error: not found", "Bearer token missing", "at 12:30",
        "password: must be longer than that", "a = b, c: d", "https://host.example/a@b?c=d", "", ":", "=",
        "🙂: 🙂=\u{301}", #""token" : "***", "a" : 1"#,
    ])
    func `words that are no secret stay`(words: String) {
        #expect(Redaction.standard.masked(words) == words)
    }

    private struct Model: Decodable { var id: Int }

    @Test func `a quotation of a decoder is masked`() {
        enum Kind: String, Decodable { case a }
        for value in ["token=s3cret", "https://user:s3cret@host.example", "Bearer s3cret"] {
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response("{\"kind\":\"\(value)\"}".utf8).decode([String: Kind].self)
            }
            #expect(!"\(error as Any)".contains("s3cret"), "\(error as Any)")
        }
    }

    @Test func `the end of a long text is not shown without its name`() {
        let words = "token=" + String(repeating: "x", count: 2000) + "s3cret"
        for text in [words, String(repeating: "y", count: 2000) + words] {
            let content = #"{"a":"\#(text)","id":"x"}"#
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response(content.utf8).decode(Model.self)
            }
            #expect(!"\(error as Any)".contains("s3cret"))
        }
    }
}
