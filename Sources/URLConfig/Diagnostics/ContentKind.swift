/// The kind of content as its first bytes show it; the content type may be wrong.
enum ContentKind: Equatable {
    case empty
    case json
    case html(title: String?)
    case xml
    /// UTF-16 or UTF-32.
    case wideText
    case text
    case binary

    init(_ data: Data) {
        var start = Array(data.prefix(4096))
        let isWide = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
        let rest = start.drop(while: \.isJSONSpace)
        let text = String(decoding: rest, as: UTF8.self)
        switch rest.first {
        case nil: self = data.count <= 4096 ? .empty : .text
        case _ where isWide || rest.count > 3 && rest.prefix(4).filter({ $0 == 0 }).count > 1: self = .wideText
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
        case _ where rest.contains { $0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B }: self = .binary
        case UInt8(ascii: "\""): self = .json
        case UInt8(ascii: "<"):
            let isPage = text.contains(/(?i)<(!doctype html|html|body|head)/)
            self = isPage ? .html(title: Self.title(in: text)) : .xml
        default:
            let word = String(decoding: rest.prefix(400), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            let isNumber = word.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
            self = isNumber || ["true", "false", "null"].contains(word) ? .json : .text
        }
    }

    /// The title of a page, such as `502 Bad Gateway`.
    private static func title(in page: String) -> String? {
        guard let tag = page.firstRange(of: /(?i)<title/),
            let start = page.unicodeScalars[tag.upperBound...].firstIndex(of: ">")
        else { return nil }
        let title = String(page.unicodeScalars[start...].dropFirst().prefix { $0 != "<" })
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return title.isEmpty ? nil : title
    }
}
