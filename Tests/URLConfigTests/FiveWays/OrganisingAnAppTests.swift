import Foundation
import Testing

/// The article shows the code of these tests, word for word.
@Suite struct OrganisingAnAppTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let article = folder.appendingPathComponent(
        "../../../Sources/URLConfig/URLConfig.docc/OrganisingAnApp.md")

    /// The lines of the blocks of code in an article.
    private static func blocks(of text: String) -> [[Substring]] {
        text.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0].split(separator: "\n", omittingEmptySubsequences: false)
        }
    }

    /// Whether the lines of a block follow each other in a text, all indented alike.
    private static func isBlock(_ block: [Substring], in text: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.dropLast(block.count - 1).contains { start in
            let indent = lines[start].prefix { $0 == " " }
            return zip(block, lines[start...]).allSatisfy { $1 == ($0.isEmpty ? "" : indent + $0) }
        }
    }

    @Test(arguments: try blocks(of: String(contentsOf: article, encoding: .utf8)))
    func `what it shows is tested`(block: [Substring]) throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
        let sources = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        #expect(
            sources.contains { Self.isBlock(block, in: $0) }, "no test has this:\n\(block.joined(separator: "\n"))")
    }

    @Test(arguments: [
        "InlineTests", "RequestFunctionsTests", "TypedRequestsTests", "EnvironmentsTests", "RequestTypesTests",
    ])
    func `each way is shown, declarations and use`(way: String) throws {
        let source = try String(contentsOf: Self.folder.appendingPathComponent("\(way).swift"), encoding: .utf8)
        let shown = try Self.blocks(of: String(contentsOf: Self.article, encoding: .utf8)).filter {
            Self.isBlock($0, in: source)
        }
        let lines = shown.joined().filter { !$0.isEmpty }.count
        let declared = source.components(separatedBy: "@Suite")[0].split(separator: "\n")
            .filter { !$0.hasPrefix("import ") }
        #expect(shown.count >= 2)
        #expect(lines > declared.count)
    }
}
