/// Which values are hidden wherever a request or a response is shown: logs, errors, cURL lines.
///
/// One set of names serves header fields, query and form items, JSON members, XML elements and `key=value` in text.
/// Case and punctuation are ignored. A name is also hidden if it ends in one of the set that has five letters or more,
/// or in one of the set as a word of its own, also in the plural or before a word such as `confirm`: `token` hides
/// `access_token`, `tokens` and `user[token]`, and `pin` hides `user_pin` but not `spin`.
///
/// The values that a request has under such names are hidden in everything that is shown of its call, in any spelling.
/// User name and password in a URL are always hidden, except by ``none``.
///
/// ```swift
/// URLSession.Config.default.redaction = .standard.adding("birthday", "X-Tenant-Key")
/// ```
public struct Redaction: Sendable, Hashable {
    /// What stands for a hidden value.
    static let mask = "***"

    private var names: Set<Substring> = []
    /// The scalars of the longest name, however its letters with accents are written: what is before them in a name
    /// that a server sends is not looked at.
    private var longest = 0
    private(set) var isActive = true
    /// What the call that is shown knows to be secret.
    @Uncompared private(set) var known = KnownSecrets()

    /// Hides what is commonly secret: credentials, cookies, tokens, keys, passwords, signatures, numbers of cards and
    /// persons.
    public static let standard = Self(names: [
        "authorization", "auth", "xauth", "bearer", "credential", "cookie", "dpop", "jwt", "token", "tokenhint",
        "tokenvalue", "assertion", "samlresponse", "codeverifier", "authenticationinfo", "password", "passwordhash",
        "passwordconfirmation", "pass", "passwd", "pwd", "passphrase", "passcode", "otp", "totp", "pin", "secret",
        "secretkey", "privatekey", "accesskey", "apikey",
        "appkey", "applicationkey", "authkey", "signingkey", "masterkey", "encryptionkey", "subscriptionkey",
        "functionskey", "session", "sessionid", "sessid", "sid", "signature", "sig", "devicecode", "usercode",
        "verificationcode", "authorizationcode", "authcode", "mfacode", "otpcode", "ssn", "cardnumber", "iban", "cvv",
        "cvc",
    ])

    /// Hides nothing: for a look at one's own traffic.
    public static let none = {
        var redaction = Self(names: [])
        redaction.isActive = false
        return redaction
    }()

    private init(names: [String]) { add(names) }

    private mutating func add(_ new: [String]) {
        names.formUnion(new.map { $0[...] })
        longest = names.map { String($0).decomposedStringWithCanonicalMapping.unicodeScalars.count }.max() ?? 0
    }

    /// This redaction, hiding more.
    ///
    /// - Parameter names: Names of header fields, query or form items, JSON members or XML elements.
    public func adding(_ names: String...) -> Self {
        var redaction = self
        redaction.isActive = true
        redaction.add(names.map { Self.words(of: $0).text }.filter { !$0.isEmpty })
        return redaction
    }

    /// This redaction, which also hides by value what a call knows.
    func knowing(_ known: KnownSecrets) -> Self {
        var redaction = self
        redaction.known = known
        return redaction
    }

    /// This redaction, which also hides by value what a request carries.
    func knowing(_ request: URLRequest?) -> Self { knowing(KnownSecrets(request)) }

    /// Whether the values under a name are hidden.
    ///
    /// - Parameter name: The name of a header field, a query or form item, a JSON member or an XML element.
    func hides(_ name: String) -> Bool {
        guard isActive else { return false }
        var (text, starts) = Self.words(of: name)
        func index(_ offset: Int?) -> String.Index {
            text.utf8.index(text.startIndex, offsetBy: offset ?? text.utf8.count)
        }
        while starts.count > 1, Self.suffixes.contains(text[index(starts.last)...]) {
            text.removeSubrange(index(starts.popLast())...)
        }
        // `max_tokens` is a number of tokens.
        let isPlural =
            text.unicodeScalars.last == "s" && !Self.counts.contains(text[..<index(starts.dropFirst().first)])
        return contains(text[...], starts) || isPlural && contains(Substring(text.unicodeScalars.dropLast()), starts)
    }

    private static let suffixes: Set<Substring> = [
        "again", "confirm", "confirmation", "confirmed", "hash", "new", "old", "value",
    ]
    private static let counts: Set<Substring> = [
        "cached", "completion", "input", "max", "min", "num", "output", "prompt", "reasoning", "total",
    ]

    /// Whether the set has the end of a name: five letters or more, or whole words.
    private func contains(_ text: Substring, _ starts: [Int]) -> Bool {
        // No more than the end is compared: sorting thousands of combining marks takes time that grows with the square.
        text.unicodeScalars.indices.suffix(longest).reversed().enumerated().contains { index, start in
            (index >= 4 || starts.contains(text.utf8.distance(from: text.startIndex, to: start)))
                && names.contains(text[start...])
        }
    }

    /// The words of a name in lower case, one after the other, and where they start in UTF-8.
    ///
    /// Digits at the end, as in `password[0]`, are ignored unless there is nothing else.
    private static func words(of name: String) -> (text: String, starts: [Int]) {
        let scalars = name.unicodeScalars
        var (text, starts, isNew, wasLower) = ("", [Int](), true, false)
        for scalar in scalars.lastIndex(where: \.isLetter).map({ scalars[...$0] }) ?? scalars[...] {
            let isUpper = scalar.properties.isUppercase
            if scalar.isLetter || scalar.properties.numericType != nil {
                if isNew || wasLower && isUpper { starts.append(text.utf8.count) }
                text += scalar.properties.lowercaseMapping
                (isNew, wasLower) = (false, !isUpper)
            } else {
                isNew = true
            }
        }
        return (text, starts)
    }
}

extension Unicode.Scalar {
    /// Whether it is a letter, or a mark on one.
    fileprivate var isLetter: Bool { properties.isAlphabetic || properties.canonicalCombiningClass != .notReordered }
}
