import Testing
import URLConfig

/// Random JSON with random mutations: the error about it is short, printable and without secrets.
///
/// Every run tests the same two thousand documents. To test more, give a number:
///
///     URLCONFIG_FUZZ=1000000 swift test -c release -Xswiftc -enable-testing --filter DecodingDiagnosisFuzz
@Suite(.oneAtATime) struct DecodingDiagnosisFuzzTests {
    private static let count = ProcessInfo.processInfo.environment["URLCONFIG_FUZZ"].flatMap { UInt64($0) } ?? 2000
    private static let secret = "s3cr3t"
    private static let paths = ["id", "viewCount", "child", "a", "b", "password", "children", "0", "1", "7", "k3y"]

    private struct Node: Decodable {
        var id: Int
        var viewCount: UInt8?
        var child: [Node]?
        var children: [String: [Int]]?
    }

    private struct Findings: Sendable {
        var failures = 0
        var fragments = 0
        var faults: [String] = []
    }

    private static func findings() -> Findings {
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        var findings = Findings()
        for seed in 0..<count {
            var random = SeededGenerator(seed: seed)
            var json = RandomJSON(secret: secret, &random)
            json.mutate(&random)
            let content = json.bytes
            let told = DecodingDiagnosisHostileTests.Failing(
                names: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    paths.randomElement(using: &random) ?? ""
                })
            for decoder in [JSONDecoder(), snake, told, DecodingDiagnosisHostileTests.Failing(isSyntax: true)]
                as [any ResponseDecoder]
            {
                do {
                    _ = try DataResponseTests.response(content).decode(Node.self) { $0.decoder = decoder }
                } catch {
                    let text = "\(error)"
                    findings.failures += 1
                    findings.fragments += text.contains("←") ? 1 : 0
                    if text.contains(secret) || text.utf8.count > 2000 || text.contains("\u{1}") {
                        findings.faults.append("\(seed): \(String(decoding: content, as: UTF8.self)) gives \(text)")
                    }
                }
            }
        }
        return findings
    }

    @Test func `no content makes an error trap, show a secret or go on for long`() async throws {
        let findings = try await OwnThread.run { Self.findings() }
        #expect(findings.faults == [])
        #expect(findings.failures > 3 * Int(Self.count))
        #expect(findings.fragments > Int(Self.count))
    }
}
