import Foundation
import HTTPTypes
import URLConfig

@testable import URLConfigTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let file: URL = {
    // On Linux, files in this folder are in memory.
    let isInMemory = FileManager.default.fileExists(atPath: "/dev/shm")
    let folder = isInMemory ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
    return folder.appending(path: "URLConfig-fuzz-\(getpid()).har")
}()

extension Target {
    /// Files of recorded exchanges, which other tools have made.
    static let archive = Self("archive") { input in
        let isWhole = input.number(below: 2) == 0
        let bytes = input.bytes()
        let (start, end) = (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://h.example/a","#,
            #""response":{"status":200,"#
        )
        let entry = bytes.split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
        let text = start.utf8 + entry[0] + end.utf8 + (entry.count > 1 ? entry[1] : [])
        try? Data(isWhole ? bytes : Array(text)).write(to: file)
        guard let archive = try? Archive(contentsOf: file) else { return }
        for exchange in archive.exchanges {
            require(exchange.key(.standard) == exchange.key(.standard), "\(exchange)")
            require((100...599).contains(exchange.response.status.code), "\(exchange)")
        }
    }

    /// Templates of URLs: a URL made from the template matches it.
    static let template = Self("template") { input in
        let (text, path) = (input.text(), input.text())
        guard let template = try? URLTemplate(text) else { return }
        let values = [path, input.text()]
        for url in [
            URL(string: path), URL(string: "https://h.example")?.appending(path: path),
            URL(string: "https://h.example" + filled(text, values)),
        ] {
            guard let url else { continue }
            let request = HTTPStubs.Request(
                urlRequest: URLRequest(url: url), body: Data(), attempt: 1, redaction: .none)
            let match = template.match(request)
            require(match.distance >= 0, "\(text) and \(url)")
        }
        // Whatever the template is, its own text without braces matches.
        if text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.allSatisfy({ $0.isPlain }),
            let url = URL(string: "https://h.example" + text)
        {
            let request = HTTPStubs.Request(
                urlRequest: URLRequest(url: url), body: Data(), attempt: 1, redaction: .none)
            let match = template.match(request)
            require(match.differences.isEmpty && match.distance == 0, "\(text): \(match)")
        }
    }

    private static func filled(_ template: String, _ values: [String]) -> String {
        var values = values
        return template.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.hasPrefix("{"), !values.isEmpty else { return String(segment) }
            return values.removeFirst().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }.joined(separator: "/")
    }
}

extension UInt8 {
    /// Whether it is a letter, a digit or a slash.
    fileprivate var isPlain: Bool {
        UInt8(ascii: "/")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
    }
}
