/// Which values are hidden wherever a request or a response is shown, such as in logs, errors and curl commands.
///
/// A redaction is a set of names. They hide the values of header fields, query and form items, JSON members, parts of
/// multipart forms and `name=value` in text. Case and punctuation are ignored. They also hide longer names that end in
/// one of them: `token` hides `access_token`, `tokens` and `user[token]`. A name of fewer than five letters must be a
/// word: `pin` hides `user_pin`, not `spin`.
///
/// Counts and settings stay visible: `null`, `true` and `false`, numbers under a plural or a compound name, and
/// objects, whose members are hidden by their own names. Under names that an app adds, every value is hidden.
///
/// If a request has a value under such a name, the value is hidden wherever the call is shown. The user name and the
/// password of a URL are always hidden, except by ``none``.
///
/// ```swift
/// URLSession.Config.default.redaction = .standard.adding("birthday", "X-Tenant-Key")
/// ```
public struct Redaction: Sendable, Hashable {
    /// How much is secret under a name; each case hides more than the one before it.
    enum Secrecy: Comparable {
        case nothing
        /// Text with letters and digits in one word, in an object under a hidden name.
        case opaqueText
        /// Text, except amounts and words.
        case plural
        /// Text, except the public identifiers of Twilio.
        case identifier
        case text
        case identifierAndNumbers
        case textAndNumbers
        case everything
    }

    /// The text in place of a hidden value.
    static let mask = "***"

    private(set) var names: Set<Substring> = []
    /// The names that an app has added.
    private var added: Set<Substring> = []
    /// The length of the longest name in Unicode scalars, with accents decomposed.
    private var longest = 0
    package private(set) var isActive = true
    /// The secrets of the call that is shown.
    @Uncompared private(set) var known = KnownSecrets()

    /// Hides credentials, cookies, tokens, keys, passwords, signatures, and the numbers of cards and persons.
    public static let standard = Self(names: [
        "authorization", "auth", "xauth", "bearer", "credential", "cookie", "dpop", "jwt", "token", "tokenhint",
        "tokenvalue", "assertion", "samlresponse", "codeverifier", "authenticationinfo", "password", "passwordhash",
        "passwordconfirmation", "pass", "passwd", "pwd", "passphrase", "passcode", "otp", "totp", "pin", "psk",
        "passkey", "secret", "secretkey", "privatekey", "accesskey", "apikey", "appkey", "applicationkey", "authkey",
        "signingkey", "masterkey", "encryptionkey", "subscriptionkey", "functionskey", "session", "sessionid",
        "sessid", "sid", "appid", "ticket", "signature", "sig", "hmac", "devicecode", "usercode", "verificationcode",
        "authorizationcode", "authcode", "mfacode", "otpcode", "securitycode", "ssn", "cardnumber", "pan", "iban",
        "cvv", "cvc",
    ])

    /// Hides nothing.
    public static let none = {
        var redaction = Self(names: [])
        redaction.isActive = false
        return redaction
    }()

    private init(names: [Substring]) {
        self.names = Set(names)
        longest = names.map(\.unicodeScalars.count).max() ?? 0
    }

    /// A copy that hides more.
    ///
    /// - Parameter names: Names of header fields, query or form items, JSON members or parts of multipart forms.
    public func adding(_ names: String...) -> Self {
        let names = names.map { Self.words(of: $0).joined()[...] }.filter { !$0.isEmpty }
        var redaction = self
        redaction.isActive = true
        redaction.added.formUnion(names)
        let lengths = names.map { String($0).decomposedStringWithCanonicalMapping.unicodeScalars.count }
        redaction.longest = max(longest, lengths.max() ?? 0)
        return redaction
    }

    /// A copy that also has the names that the app has added for all calls.
    ///
    /// ``none`` shows their values, but a field of these names is still a credential.
    func including(_ all: Self) -> Self {
        if all.added.isSubset(of: added) { return self }
        var redaction = self
        redaction.added.formUnion(all.added)
        redaction.longest = max(longest, all.longest)
        return redaction
    }

    /// The names of the fields that each ``Authorization`` of the app has set until now.
    static var ofCredentials: Self { credentials.withLock(\.self) }

    private static let credentials = Locked(none)

    static func note(credentials names: [HTTPField.Name]) {
        // Those that signers add.
        let others = ["accept", "date", "host", "user-agent", "x-amz-content-sha256", "x-amz-date"]
        let known = ofCredentials
        for name in names.map(\.canonicalName)
        where !known.isSecretName(name) && !standard.hides(name) && !others.contains(name)
            && !URLRequest.isAboutBody(name)
        {
            // An app may make names.
            credentials.withLock { if $0.added.count < 1_000 { $0 = $0.adding(name) } }
        }
    }

    /// A copy that also hides the secrets of a call.
    func knowing(_ known: KnownSecrets) -> Self {
        var redaction = self
        redaction.known = known
        return redaction
    }

    func knowing(_ request: URLRequest?) -> Self { knowing(KnownSecrets(request)) }

    /// Whether text under a name is hidden.
    package func hides(_ name: String) -> Bool { secrecy(of: name) > .nothing }

    /// Whether text in an item of a query or a form is hidden under a name.
    package func hidesItem(_ name: String) -> Bool { secrecy(ofItem: name) > .nothing }

    /// How much is secret under a name.
    func secrecy(of name: String) -> Secrecy { isActive ? secrecyIfActive(of: name) : .nothing }

    /// Whether text under a name is a secret, even if this redaction shows it.
    func isSecretName(_ name: String) -> Bool { secrecyIfActive(of: name) > .nothing }

    private func secrecyIfActive(of name: String) -> Secrecy {
        var words = Self.words(of: name)
        var isAdded = match(words, added) != nil
        while !isAdded, words.count > 1, words.last?.isOne(of: Self.states) == true {
            words.removeLast()
            isAdded = match(words, added) != nil
        }
        if isAdded { return .everything }
        // Such as `tls.key`, a file.
        if !names.isEmpty, name.utf8.suffix(4).elementsEqual(".key".utf8) { return .text }
        if let match = match(words, names) {
            // `app_id` is the number of an app, `appid` is its key.
            if match == "appid", words.last?.utf8.count == 2 { return .nothing }
            let isOwn = match.utf8.count == words.reduce(0) { $0 + $1.utf8.count }
            if match == "sid" { return isOwn ? .identifierAndNumbers : .identifier }
            return isOwn || Self.isNumber(match) ? .textAndNumbers : .text
        }
        guard let last = words.last, last.unicodeScalars.last == "s" else { return .nothing }
        let singular = Array(words.dropLast()) + [String(last.unicodeScalars.dropLast())]
        if match(singular, added) != nil { return .everything }
        return match(singular, names).map { Self.isNumber($0) ? .text : .plural } ?? .nothing
    }

    /// The secrecy of a member whose name alone may say too little: `value` in `token`, or `number` in `card`.
    func secrecy(of name: String, in parent: String) -> Secrecy {
        if name.isOne(of: Self.states) { return secrecy(of: parent) }
        return name.isOne(of: ["number", "key"]) ? secrecy(of: "\(parent)_\(name)") : .nothing
    }

    /// The secrecy of an item of a query or a form: a code is exchanged for a token (RFC 6749 §4.1.3).
    func secrecy(ofItem name: String) -> Secrecy {
        max(secrecy(of: name), Self.isKey(ofItem: name) && !names.isEmpty ? .text : .nothing)
    }

    /// Whether a name is secret in queries and forms only.
    static func isKey(ofItem name: String) -> Bool {
        3...4 ~= name.utf8.count && ["key", "code"].contains(name.lowercased())
    }

    /// Words that do not change what a name stands for.
    private static let states = ["again", "confirm", "confirmation", "confirmed", "hash", "new", "old", "value"]

    /// Whether the values of a name are often numbers, so that `user_pin` is not a number of pins.
    private static func isNumber(_ name: Substring) -> Bool {
        ["pin", "otp", "cvv", "cvc", "ssn", "pan", "password", "passwd", "pwd", "code", "number"]
            .contains(where: name.hasSuffix)
    }

    func isSecret(_ text: [UInt8], _ secrecy: Secrecy) -> Bool {
        switch secrecy {
        case .nothing: false
        case .opaqueText: text.mixesLettersAndDigits
        case .everything: !text.isEmpty
        // An amount, such as `6m0s`, or a word.
        case .plural where text.count <= 12 && !text.mixesLettersAndDigits: false
        case _ where text.count <= 5 && Self.settings.contains(String(decoding: text, as: UTF8.self).lowercased()):
            false
        case .plural, .identifier, .identifierAndNumbers: !text.isOfTwilio
        default: true
        }
    }

    private static let settings: Set = ["", "none", "null", "true", "false"]

    /// The name in a set with which a name ends: whole words, or five letters or more.
    private func match(_ words: [String], _ names: Set<Substring>) -> Substring? {
        if names.isEmpty { return nil }
        var (length, wordLengths) = (0, Set<Int>())
        let last = words.reversed().prefix { word in
            defer {
                length += word.unicodeScalars.count
                wordLengths.insert(length)
            }
            return length < longest
        }
        // Only the end is compared: sorting thousands of combining marks takes quadratic time, and so does joining
        // thousands of words for each that is left out.
        let end = String(last.reversed().joined().unicodeScalars.suffix(longest))
        let match = end.unicodeScalars.indices.reversed().enumerated().first { index, start in
            (index >= 4 || wordLengths.contains(index + 1)) && names.contains(end[start...])
        }
        return match.map { end[$0.element...] }
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

extension String {
    /// Whether it is one of a few words.
    fileprivate func isOne(of words: [String]) -> Bool { words.contains { hasBytes(of: $0) } }
}

extension [UInt8] {
    /// Whether it looks like a credential, and not like words, a date, a host or a path.
    var isOpaque: Bool {
        if starts(with: "eyJ".utf8) { return true }
        let marks = count < 24 || first == UInt8(ascii: "/") ? "-_+=~%" : "-_+=~%/"
        guard count >= 12, allSatisfy({ $0.isAlphanumeric || marks.utf8.contains($0) }) else { return false }
        return mixesLettersAndDigits
    }

    /// Whether it is a public identifier of Twilio, such as `AC` and 32 hexadecimal digits.
    fileprivate var isOfTwilio: Bool {
        count == 34 && prefix(2).allSatisfy { 0x41...0x5A ~= $0 }
            && dropFirst(2).allSatisfy { $0.isDigit || 0x61...0x66 ~= $0 }
    }

    fileprivate var mixesLettersAndDigits: Bool {
        split { !$0.isAlphanumeric }.contains { word in
            word.count >= 6 && word.contains(where: \.isDigit) && !word.allSatisfy(\.isDigit)
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a letter, or a mark on one.
    fileprivate var isLetter: Bool { properties.isAlphabetic || properties.canonicalCombiningClass != .notReordered }
}
