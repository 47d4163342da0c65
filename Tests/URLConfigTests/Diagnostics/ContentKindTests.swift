import Testing

@testable import URLConfig

@Suite struct ContentKindTests {
    @Test(
        arguments: [
            ("", .empty), (" \r\n\t", .empty), ("\u{FEFF}", .empty), ("{", .json), (" [1]", .json),
            ("\u{FEFF}{}", .json),
            ("\"a\"", .json), ("-12.5e3\n", .json), ("null", .json), (" true ", .json), ("nullify", .text),
            ("404 page not found", .text), ("upstream error", .text), (")]}',\n{}", .text), ("{\u{1}", .json),
            ("<!doctype HTML><TITLE lang=en>\n Oops </title>", .html(title: "Oops")),
            ("<html><title></title>", .html(title: nil)),
            ("\n<html><title", .html(title: nil)), ("<head><title>a", .html(title: "a")),
            ("<?xml version='1.0'?><a/>", .xml),
            ("<a><b/></a>", .xml), ("[\u{0}1\u{0}]\u{0}", .wideText), ("\u{0}[\u{0}1\u{0}]", .wideText),
            ("\u{1F}x\u{8}\u{0}", .binary), ("PK\u{3}\u{4}", .binary),
        ] as [(String, ContentKind)])
    func `the kind is told from the first bytes`(content: String, kind: ContentKind) {
        #expect(ContentKind(Data(content.utf8)) == kind)
        // A slice of other data: its indices do not start at zero.
        #expect(ContentKind(Data("xy\(content)".utf8).dropFirst(2)) == kind)
    }

    @Test func `a byte order mark tells UTF-16`() {
        #expect(ContentKind(Data([0xFF, 0xFE, 0x7B, 0])) == .wideText)
        #expect(ContentKind(Data([0xFE, 0xFF, 0, 0x7B])) == .wideText)
    }
}
