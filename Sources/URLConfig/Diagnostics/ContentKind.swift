/// What a content looks like, whatever its content type says: told from its first bytes.
enum ContentKind: Equatable {
    case empty
    case json
    case html(title: String?)
    case xml
    /// Text in units of two or four bytes.
    case wideText
    case text
    case binary

    init(_ data: Data) {
        var start = Array(data.prefix(4096))
        let isWide = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
        let rest = start.drop(while: \.isJSONSpace)
        let head = rest.prefix(16).map(Self.lowercased)
        if rest.isEmpty {
            self = data.count <= 4096 ? .empty : .text
        } else if isWide || rest.count > 3 && rest.prefix(4).filter({ $0 == 0 }).count > 1 {
            self = .wideText
        } else if rest.contains(where: { $0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B }) {
            self = head.first == UInt8(ascii: "{") || head.first == UInt8(ascii: "[") ? .json : .binary
        } else if head.first == UInt8(ascii: "<") {
            let text = rest.map(Self.lowercased)
            let isPage = ["<!doctype html", "<html", "<body", "<head"].contains { text.firstRange(of: $0.utf8) != nil }
            self = isPage ? .html(title: Self.title(in: Array(rest), text)) : .xml
        } else {
            self = Self.isJSON(rest) ? .json : .text
        }
    }

    private static func isJSON(_ text: ArraySlice<UInt8>) -> Bool {
        switch text.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): return true
        default:
            let word = String(decoding: text.prefix(400), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            return ["true", "false", "null"].contains(word)
                || word.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        }
    }

    /// What a page calls itself, which is often all there is to know: `502 Bad Gateway`.
    private static func title(in text: [UInt8], _ lowercased: [UInt8]) -> String? {
        guard let tag = lowercased.firstRange(of: "<title".utf8)?.upperBound,
            let start = lowercased[tag...].firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let title = String(decoding: text[(start + 1)...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return title.isEmpty ? nil : title
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
