import Testing

@testable import URLConfig

@Suite struct StringPiecesTests {
    @Test(arguments: ["", "abcd", "abcde", "äöüß€", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", String(repeating: "e\u{301}", count: 50)])
    func `a long text is cut between scalars, and nothing is lost`(text: String) {
        for size in 4...9 {
            let pieces = text.pieces(of: size)
            #expect(pieces.joined() == text)
            #expect(pieces.allSatisfy { 1...size ~= $0.utf8.count })
        }
    }
}
