/// Which values are hidden wherever a request or a response is shown, such as in logs, errors and curl commands.
///
/// A redaction is a set of names. They hide the values of header fields, query and form items, JSON members, XML
/// elements and `key=value` in text. Case and punctuation are ignored. Names that end in one of the names are hidden,
/// too: `token` hides `access_token`, `tokens` and `user[token]`. A name of fewer than five letters must be a word:
/// `pin` hides `user_pin`, not `spin`.
///
/// If a request has a value under such a name, the value is hidden wherever the call is shown. The user name and the
/// password of a URL are always hidden, except by ``none``.
///
/// ```swift
/// URLSession.Config.default.redaction = .standard.adding("birthday", "X-Tenant-Key")
/// ```
public struct Redaction: Sendable, Hashable {
    /// The text in place of a hidden value.
    static let mask = "***"

    private(set) var names: Set<Substring> = []
    /// The length of the longest name in Unicode scalars, with accents decomposed.
    private var longest = 0
    private(set) var isActive = true
    /// The secrets of the call that is shown.
    @Uncompared private(set) var known = KnownSecrets()

    /// Hides credentials, cookies, tokens, keys, passwords, signatures, and the numbers of cards and persons.
    public static let standard = Self(names: [
        "authorization", "auth", "xauth", "bearer", "credential", "cookie", "dpop", "jwt", "token", "tokenhint",
        "tokenvalue", "assertion", "samlresponse", "codeverifier", "authenticationinfo", "password", "passwordhash",
        "passwordconfirmation", "pass", "passwd", "pwd", "passphrase", "passcode", "otp", "totp", "pin", "secret",
        "secretkey", "privatekey", "accesskey", "apikey", "appkey", "applicationkey", "authkey", "signingkey",
        "masterkey", "encryptionkey", "subscriptionkey", "functionskey", "session", "sessionid", "sessid", "sid",
        "signature", "sig", "devicecode", "usercode", "verificationcode", "authorizationcode", "authcode", "mfacode",
        "otpcode", "ssn", "cardnumber", "iban", "cvv", "cvc",
    ])

    /// Hides nothing.
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

    /// A copy that hides more.
    ///
    /// - Parameter names: Names of header fields, query or form items, JSON members or XML elements.
    public func adding(_ names: String...) -> Self {
        var redaction = self
        redaction.isActive = true
        redaction.add(names.map { Self.words(of: $0).joined() }.filter { !$0.isEmpty })
        return redaction
    }

    /// A copy that also hides the secrets of a call.
    func knowing(_ known: KnownSecrets) -> Self {
        var redaction = self
        redaction.known = known
        return redaction
    }

    func knowing(_ request: URLRequest?) -> Self { knowing(KnownSecrets(request)) }

    /// Whether the values under a name are hidden.
    func hides(_ name: String) -> Bool {
        guard isActive else { return false }
        var words = Self.words(of: name)
        while words.count > 1, let last = words.last, Self.suffixes.contains(last) { words.removeLast() }
        guard let first = words.first, let last = words.last?.unicodeScalars else { return false }
        // `max_tokens` is a number of tokens.
        let isPlural = last.last == "s" && (words.count == 1 || !Self.counts.contains(first))
        return contains(words) || isPlural && contains(words.dropLast() + [String(last.dropLast())])
    }

    private static let suffixes: Set = [
        "again", "confirm", "confirmation", "confirmed", "hash", "new", "old", "value",
    ]
    private static let counts: Set = [
        "cached", "completion", "input", "max", "min", "num", "output", "prompt", "reasoning", "total",
    ]

    /// Whether the set contains the end of a name: whole words, or five letters or more.
    private func contains(_ words: [String]) -> Bool {
        var (length, wordLengths) = (0, Set<Int>())
        for word in words.reversed() where length < longest {
            length += word.unicodeScalars.count
            wordLengths.insert(length)
        }
        // Only the end is compared: sorting thousands of combining marks takes quadratic time.
        let end = String(words.joined().unicodeScalars.suffix(longest))
        return end.unicodeScalars.indices.reversed().enumerated().contains { index, start in
            (index >= 4 || wordLengths.contains(index + 1)) && names.contains(end[start...])
        }
    }

    /// The words of a name in lower case; digits at its end are ignored if there are letters.
    private static func words(of name: String) -> [String] {
        let scalars = name.unicodeScalars
        var (words, isNew, wasLower) = ([String](), true, false)
        for scalar in scalars.lastIndex(where: \.isLetter).map({ scalars[...$0] }) ?? scalars[...] {
            guard scalar.isLetter || scalar.properties.numericType != nil else {
                isNew = true
                continue
            }
            let isUpper = scalar.properties.isUppercase
            if isNew || wasLower && isUpper { words.append("") }
            words[words.count - 1] += scalar.properties.lowercaseMapping
            (isNew, wasLower) = (false, !isUpper)
        }
        return words
    }
}

extension Unicode.Scalar {
    /// Whether it is a letter, or a mark on one.
    fileprivate var isLetter: Bool { properties.isAlphabetic || properties.canonicalCombiningClass != .notReordered }
}
