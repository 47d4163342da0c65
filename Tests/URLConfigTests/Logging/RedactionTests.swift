import Foundation
import Testing

@testable import URLConfig

/// Which names are hidden.
@Suite struct RedactionTests {
    @Test(arguments: [
        "Authorization", "authorization", "AUTHORIZATION", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key",
        "api_key",
        "apikey", "apiKey", "token", "Token", "access_token", "refreshToken", "id-token", "X-Auth-Token",
        "X-CSRF-Token",
        "X-Amz-Security-Token", "user[token]", "tokens.token", "password", "Password", "new_password", "client_secret",
        "secret",
        "passwd", "passphrase", "private_key", "client_assertion", "X-Amz-Signature", "sig", "pin", "cvv", "auth",
        "password_confirmation", "JSESSIONID", "PHPSESSID", "password[0]", "token1", "bearer", "id_token_hint",
        "SAMLResponse",
        "tokens", "user[tokens]", "refreshTokens", "new_password", "password_confirm", "passwordConfirm",
        "old-password-2",
        "db_pass", "dbPass", "user_pin", "userPin", "id_jwt", "signing_key", "master_key", "encryption_key",
        "X-Session",
        "DD-APPLICATION-KEY", "device_code", "user_code", "verification_code", "mfa_code", "otp_code", "totp",
        "session",
        "ssn", "card_number", "cardNumber", "iban", "cvv", "customer.ssn", "passwords_confirmed", "secret_value",
        "password_hash", "code_verifier", "pass word", "p.a.s.s.w.o.r.d",
    ])
    func `what is commonly secret is hidden`(name: String) {
        #expect(Redaction.standard.hides(name))
    }

    @Test(arguments: [
        "Accept", "Content-Type", "User-Agent", "Host", "page", "query", "title", "spin", "code", "status_code",
        "countryCode",
        "max_tokens", "total_tokens", "completionTokens", "password_length", "token_type", "compass", "caribbean",
        "assn", "design", "author", "oauthor",
        "tokenizer", "secretary", "passage", "", "-", "\u{1F600}", "WWW-Authenticate",
    ])
    func `what is not is shown`(name: String) {
        #expect(!Redaction.standard.hides(name))
    }

    @Test func `an app hides more, whatever the case and punctuation`() {
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
        let redaction = Redaction.standard.adding(name.precomposedStringWithCanonicalMapping, "contraseña")
        #expect(redaction.hides(name.decomposedStringWithCanonicalMapping))
        #expect(redaction.hides(name.precomposedStringWithCanonicalMapping))
        for item in ["contrase%F1a=S3CRET", "contrase%C3%B1a=S3CRET", "x=1&contrase%f1a=S3CRET"] {
            #expect(!redaction.url("http://h/?\(item)").contains("S3CRET"))
        }
    }

    @Test func `none hides nothing, and with names those alone`() {
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

    @Test func `a name of any length is looked at in time`() {
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
}
