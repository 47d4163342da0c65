/// Which values are hidden wherever a request or a response is shown: logs, errors, cURL lines.
///
/// One set of names serves header fields, query and form items, and JSON members alike. Case and punctuation do not
/// count, and a name is hidden too if it ends in one of the set that has five letters or more: `token` hides
/// `access_token`, `X-Auth-Token` and `user[token]`, where `pin` leaves `spin` alone. User name and password in a URL
/// are always hidden, but by ``none``.
///
/// ```swift
/// URLSession.Config.default.redaction = .standard.adding("ssn", "X-Tenant-Key")
/// ```
public struct Redaction: Sendable, Hashable {
    /// What stands for a hidden value.
    static let mask = "***"

    private var names: Set<String>
    /// The length of the longest name: what is before it in a name that a server sends is not looked at.
    private var longest: Int
    private(set) var isActive = true

    /// Hides what is commonly secret: credentials, cookies, tokens, keys, passwords, signatures.
    public static let standard = Self(names: [
        "authorization", "auth", "xauth", "bearer", "credential", "credentials", "cookie", "dpop", "jwt", "token",
        "tokenhint", "tokenvalue", "assertion", "samlresponse", "codeverifier", "authenticationinfo", "password",
        "passwords",
        "passwordconfirmation", "passwordhash", "pass", "passwd", "pwd", "passphrase", "passcode", "otp", "pin", "cvv",
        "cvc",
        "secret", "secrets", "secretkey", "privatekey", "accesskey", "apikey", "apikeys", "appkey", "authkey",
        "subscriptionkey", "functionskey", "sessionid", "sessid", "sid", "signature", "sig",
    ])

    /// Hides nothing: for a look at one's own traffic.
    public static let none = {
        var redaction = Self(names: [])
        redaction.isActive = false
        return redaction
    }()

    private init(names: Set<String>) {
        self.names = names
        longest = Self.longest(of: names)
    }

    /// This redaction, hiding more.
    ///
    /// - Parameter names: Names of header fields, query or form items, or JSON members.
    public func adding(_ names: String...) -> Self {
        var redaction = self
        redaction.isActive = true
        redaction.names.formUnion(names.map(Self.normalized).filter { !$0.isEmpty })
        redaction.longest = Self.longest(of: redaction.names)
        return redaction
    }

    /// The scalars of the longest name, however its letters with accents are written.
    private static func longest(of names: Set<String>) -> Int {
        names.map(\.decomposedStringWithCanonicalMapping.unicodeScalars.count).max() ?? 0
    }

    /// Whether the values under a name are hidden.
    ///
    /// - Parameter name: The name of a header field, a query or form item, or a JSON member.
    public func hides(_ name: String) -> Bool {
        guard isActive else { return false }
        // No more than the end is compared: sorting thousands of combining marks takes time that grows with the square.
        let name = Self.normalized(name).unicodeScalars
        var end = name.suffix(longest)
        if end.startIndex == name.startIndex, names.contains(String(end)) { return true }
        while end.count >= 5 {
            if names.contains(String(end)) { return true }
            end.removeFirst()
        }
        return false
    }

    /// Letters and digits in lower case, with their marks; digits at the end, as in `password[0]`, count only where
    /// there is nothing else.
    private static func normalized(_ name: String) -> String {
        let name = name.lowercased().unicodeScalars.filter { $0.isDigit || $0.isLetter }
        return String(name.lastIndex { !$0.isDigit }.map { name[...$0] } ?? name[...])
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { properties.numericType != nil }

    /// Whether it is a letter, or a mark on one.
    fileprivate var isLetter: Bool { properties.isAlphabetic || properties.canonicalCombiningClass != .notReordered }
}
