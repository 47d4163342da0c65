import Testing

@testable import URLConfig

/// Lines of JSON around a place.
@Suite struct JSONExcerptTests {
    private enum Mark {
        case container, last
        case member(Int)
    }

    private func lines(_ json: String, _ mark: Mark) -> String {
        let json = JSONTokenizer(json.utf8)
        var frame = JSONTokenizer.Frame(start: 0)
        if case .member(let index) = mark {
            frame = json.member(JSONKey(intValue: index), of: 0).exact ?? frame
        }
        var isEnd = false
        if case .last = mark { isEnd = true }
        let path: [any CodingKey] = [JSONKey(stringValue: "a")]
        return JSONExcerpt(json: json, redaction: .standard)
            .lines([.init(start: 0), frame], path, "here", isEnd: isEnd).joined(separator: "|")
    }

    @Test(
        arguments: [
            ("[0,1,2,3,4,5,6,7,8]", .container, "a [  ← here|  0,|  1,|  2,|  3,|  4,|  5,|  …|]"),
            ("[0,1,2,3,4,5]", .container, "a [  ← here|  0,|  1,|  2,|  3,|  4,|  5|]"),
            ("[0,1,2,3,4,5,6,7,8]", .member(5), "a [|  …|  1,|  2,|  3,|  4,|  5,  ← here|  6,|  7,|  …|]"),
            ("[0,1,2]", .member(2), "a [|  0,|  1,|  2  ← here|]"), ("[0,1,2]", .last, "a [|  0,|  1,|  2  ← here|]"),
            ("[0,1,2,3,4,5", .last, "a [|  …|  2,|  3,|  4,|  5  ← here"), ("[", .last, "a [  ← here"),
            ("{}", .container, "a {}  ← here"), ("[ 1 , 2", .container, "a [  ← here|  1,|  2,|  …|]"),
            (
                #"{"b" : {"c":1},"token":{"d":"x"}, "e":[]}"#, .container,
                #"a {  ← here|  "b" : {…},|  "token" : "***",|  "e" : []|}"#
            ),
            (
                #"{"b":"/?token=s3cret","c":"say \"hi\"","d":"{\"token\":\"s3cret\"}"}"#, .container,
                #"a {  ← here|  "b" : "/?token=***",|  "c" : "say \"hi\"",|  "d" : "{\"token\":\"***\"}"|}"#
            ),
            (
                #"{"tok\u0065n":"s","Api_Key":1}"#, .container,
                #"a {  ← here|  "tok\u0065n" : "***",|  "Api_Key" : "***"|}"#
            ),
        ] as [(String, Mark, String)])
    private func `the place is shown with its neighbours`(json: String, mark: Mark, expected: String) {
        #expect(lines(json, mark) == expected)
    }

    @Test(arguments: ["ä", "€", "😀", "x", "\u{301}"])
    func `a long value is cut between characters`(piece: String) {
        for padding in 0..<4 {
            let value = String(repeating: "x", count: padding) + String(repeating: piece, count: 100)
            let text = lines("[\"\(value)\"]", .container)
            #expect(!text.unicodeScalars.contains("\u{FFFD}"))
            #expect(text.unicodeScalars.contains("…") && text.utf8.count < 320)
        }
    }
}
