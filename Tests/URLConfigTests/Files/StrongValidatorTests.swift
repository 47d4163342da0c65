import Testing

@testable import URLConfig

/// Which fields of a response recognize a version of a file byte for byte (RFC 9110 §8.8).
@Suite struct StrongValidatorTests {
    static let url = URL(string: "https://files.example.com/a.zip")
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let later = "Sun, 06 Nov 1994 08:50:37 GMT"

    private static func fields(_ pairs: [(HTTPField.Name, String)]) -> HTTPFields {
        HTTPFields(pairs.map { HTTPField(name: $0, value: $1) })
    }

    @Test(arguments: ["\"\"", "\"a\"", "\"W/a\"", "\"a,b;c\"", "\"!#~\""])
    func `a strong entity tag is used`(tag: String) {
        let validator = StrongValidator(Self.fields([(.eTag, tag), (.lastModified, Self.modified)]), of: Self.url)
        #expect(validator?.text == tag)
    }

    @Test(
        arguments: [
            "W/\"a\"", "w/\"a\"", "a", "\"", "\"a", "a\"", "\"a\"b\"", "\"a b\"", "\"ä\"", "'a'", "", "\"a\", \"b\"",
            modified,
            "\"" + String(repeating: "a", count: 511) + "\"",
        ])
    func `a weak or invalid entity tag is not used, and no date instead of it`(tag: String) {
        let fields = Self.fields([(.eTag, tag), (.lastModified, Self.modified), (.date, Self.later)])
        #expect(StrongValidator(fields, of: Self.url) == nil)
    }

    @Test(
        arguments: [
            [(.eTag, "\"a\""), (.eTag, "\"a\"")],
            [(.lastModified, modified), (.lastModified, modified), (.date, later)],
            [(.lastModified, modified), (.date, later), (.date, later)],
        ] as [[(HTTPField.Name, String)]])
    func `two fields of one name are not used`(fields: [(HTTPField.Name, String)]) {
        #expect(StrongValidator(Self.fields(fields), of: Self.url) == nil)
    }

    @Test(
        arguments: [
            (modified, later, true), (modified, "Sunday, 06-Nov-94 08:50:37 GMT", true),
            (modified, "Sun, 06 Nov 1994 08:50:36 GMT", false), (later, modified, false), (modified, modified, false),
            (modified, "now", false), (modified, nil, false), ("yesterday", later, false),
        ] as [(String, String?, Bool)])
    func `a date is used only if the file was not changed shortly before`(date: String, now: String?, isUsed: Bool) {
        let fields = Self.fields([(.lastModified, date)] + (now.map { [(.date, $0)] } ?? []))
        #expect(StrongValidator(fields, of: Self.url)?.text == (isUsed ? date : nil))
    }

    @Test(
        arguments: [
            ([(.eTag, "\"a\"")], "a\\\"", "a\\r\\nHost: x\\\""),
            ([(.lastModified, modified), (.date, later)], "Nov", "Nov\\r\\nHost:x"),
        ] as [([(HTTPField.Name, String)], String, String)])
    func `one that was stored is the same, and one that was changed is invalid`(
        fields: [(HTTPField.Name, String)], old: String, new: String
    ) throws {
        let validator = try #require(StrongValidator(Self.fields(fields), of: Self.url))
        let json = try JSONEncoder().encode(validator)
        #expect(try JSONDecoder().decode(StrongValidator.self, from: json) == validator)
        let changed = String(decoding: json, as: UTF8.self).replacing(old, with: new)
        #expect(changed.contains("Host:"))
        #expect(try !JSONDecoder().decode(StrongValidator.self, from: Data(changed.utf8)).isValid)
    }

    @Test func `with a long tag, a query and credentials do not make another resource, but a path and a host do`()
        throws
    {
        let fields = Self.fields([(.eTag, "\"\(String(repeating: "a", count: 32))\"")])
        let validator = try #require(StrongValidator(fields, of: Self.url))
        for (text, matches) in [
            ("https://files.example.com/a.zip?signature=1", true), ("https://u:p@files.example.com/a.zip#x", true),
            ("https://files.example.com/b.zip", false), ("https://mirror.example.com/a.zip", false),
            ("http://files.example.com/a.zip", false),
        ] {
            #expect(validator.matches(fields, of: URL(string: text)) == matches)
        }
    }

    @Test(
        arguments: [[(.eTag, "\"1\"")], [(.lastModified, modified), (.date, later)]] as [[(HTTPField.Name, String)]])
    func `a short tag and a date are of one query only`(fields: [(HTTPField.Name, String)]) throws {
        let fields = Self.fields(fields)
        let versions = ["1", "2"].map { URL(string: "https://files.example.com/a.zip?version=\($0)") }
        let validator = try #require(StrongValidator(fields, of: versions[0]))
        #expect(validator.matches(fields, of: versions[0]))
        #expect(!validator.matches(fields, of: versions[1]))
    }
}
