import Foundation
import Testing
import URLConfig

/// Random JSON, mutated at random: whatever the content, an error about it is short, of printable text and without secrets.
///
/// A few thousand of them in every run, the same ones each time. For more, from a number of one's own on:
///
///     URLCONFIG_FUZZ=1000000 swift test -c release -Xswiftc -enable-testing --filter DecodingDiagnosisFuzz
@Suite(.serialized) struct DecodingDiagnosisFuzzTests {
    private static let count = ProcessInfo.processInfo.environment["URLCONFIG_FUZZ"].flatMap { UInt64($0) } ?? 3000
    private static let secret = "s3cr3t"
    private static let names = ["id", "view_count", "viewCount", "child", "a", "\\u0062", "x\\\"y", "ä", "", "children"]
    private static let paths = ["id", "viewCount", "child", "a", "b", "password", "children", "0", "1", "7", "k3y"]
    private static let pieces = [
        "{", "}", "[", "]", "\"", "\\", ":", ",", " ", "\n", "\u{1}", "null", "1e999", "-", "0", "\\u", "\\ud800", "ä", "<", "'",
        "[[[[[[[[", "\"id\":\"x\",", "\"child\":{", "}}", "1.5",
    ]

    private struct Node: Decodable {
        var id: Int
        var viewCount: UInt8?
        var child: [Node]?
        var children: [String: [Int]]?
    }

    /// Appends a value; what is under a hidden name is left alone by mutations, since without the name it is not hidden.
    private static func append(_ depth: Int, to text: inout [[UInt8]], _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 0: text.append(Array("null".utf8))
        case 1: text.append(Array("\(Int.random(in: -9...300, using: &random))".utf8))
        case 2: text.append(Array("\(Double.random(in: -1...1, using: &random))".utf8))
        case 3, 4: text.append(Array("\"\(names.randomElement(using: &random) ?? "")\"".utf8))
        case 5: text.append(Array("true".utf8))
        case 6, 7:
            text.append([UInt8(ascii: "[")])
            for index in 0..<Int.random(in: 0...6, using: &random) {
                if index > 0 { text.append([UInt8(ascii: ",")]) }
                append(depth - 1, to: &text, &random)
            }
            text.append([UInt8(ascii: "]")])
        default:
            text.append([UInt8(ascii: "{")])
            for index in 0..<Int.random(in: 0...6, using: &random) {
                if index > 0 { text.append([UInt8(ascii: ","), UInt8(ascii: "\n")]) }
                if Int.random(in: 0..<5, using: &random) == 0 {
                    let value = ["\"\(secret)\"", "{\"k3y\":[\"\(secret)\"]}", "[1,{\"a\":\"\(secret)\\\"\"}]"]
                    text.append(Array("\"password\":\(value.randomElement(using: &random) ?? "")".utf8))
                } else {
                    text.append(Array("\"\(names.randomElement(using: &random) ?? "")\":".utf8))
                    append(depth - 1, to: &text, &random)
                }
            }
            text.append([UInt8(ascii: "}")])
        }
    }

    private static func mutate(_ text: inout [[UInt8]], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 0...3, using: &random) where !text.isEmpty {
            let index = Int.random(in: text.indices, using: &random)
            guard !text[index].starts(with: "\"password".utf8) else { continue }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: text.remove(at: index)
            case 1: text.insert(Array((pieces.randomElement(using: &random) ?? "").utf8), at: index)
            case 2: text[index] = Array((pieces.randomElement(using: &random) ?? "").utf8)
            case 3: text.insert([UInt8.random(in: .min ... .max, using: &random)], at: index)
            case 4: text.removeSubrange(index...)
            default:
                let byte = Int.random(in: text[index].indices.upperBound > 0 ? text[index].indices : 0..<1, using: &random)
                if text[index].indices.contains(byte) { text[index][byte] = .random(in: .min ... .max, using: &random) }
            }
        }
    }

    @Test func `no content makes an error trap, show a secret or go on for long`() {
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        var (failures, fragments) = (0, 0)
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: seed)
            var pieces: [[UInt8]] = []
            Self.append(5, to: &pieces, &random)
            Self.mutate(&pieces, &random)
            let content = pieces.joined()
            let told = DecodingDiagnosisHostileTests.Failing(
                names: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    Self.paths.randomElement(using: &random) ?? ""
                })
            for decoder in [JSONDecoder(), snake, told, DecodingDiagnosisHostileTests.Failing(isSyntax: true)]
                as [any ResponseDecoder]
            {
                do {
                    _ = try DataResponseTests.response(content).decode(Node.self) { $0.decoder = decoder }
                } catch {
                    let text = "\(error)"
                    failures += 1
                    fragments += text.contains("←") ? 1 : 0
                    // Before `#expect`, which is slow.
                    if text.contains(Self.secret) || text.utf8.count > 2000 || text.contains("\u{1}") {
                        Issue.record("seed \(seed), \(String(decoding: content, as: UTF8.self)) gives \(text)")
                    }
                }
            }
        }
        #expect(failures > 3 * Int(Self.count))
        #expect(fragments > Int(Self.count))
    }
}
