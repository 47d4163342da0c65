/// Where in a document a coding path ends.
struct JSONPlace {
    /// The object or array in which the path ends: where it opens; `nil` at the top level.
    var container: Int?
    /// How many steps lead to the container.
    var depth = 0
    /// What the path names in it; `nil` if there is no such thing.
    var member: JSONScanner.Member?
    /// Whether the value is hidden: then it is not gone into.
    var isHidden = false

    /// The place, or `nil` if it takes too long to find.
    ///
    /// Of two members with one name the first is taken, as `JSONDecoder` does. A name that is nowhere may be written
    /// otherwise, `view_count` for `viewCount`, since a decoder may convert names.
    init?(_ path: [CodingStep], in scanner: JSONScanner, _ redaction: Redaction) {
        member = .init(name: nil, value: scanner.root)
        // A name that is found by its likeness is found at the end of its object only: without a limit, nested ones would take
        // time that grows with the square.
        var fuel = 3 * scanner.end + 1000
        for (depth, step) in path.enumerated() {
            guard let container = member?.value, scanner.opens(at: container) else { return }
            let (found, position) = scanner.member(step, of: container)
            fuel -= position - container
            guard fuel > 0 else { return nil }
            (self.container, self.depth, member) = (container, depth, found)
            isHidden = redaction.hides(step) || found.map { scanner.hides($0, redaction) } ?? false
            if isHidden { return }
        }
    }
}

extension JSONScanner {
    /// What a step leads to, and how far the search went.
    fileprivate func member(_ step: CodingStep, of container: Int) -> (Member?, Int) {
        var members = members(of: container)
        guard self[container] == UInt8(ascii: "{") else {
            var rest = step.index ?? -1
            while rest >= 0, let member = members.next() {
                if rest == 0 { return (member, members.position) }
                rest -= 1
            }
            return (nil, members.position)
        }
        guard step.name.utf8.count <= Redaction.longestStep else { return (nil, container) }
        var likeness: Member?
        var pattern = NamePattern(step.name)
        while let member = members.next() {
            guard let name = member.name else { continue }
            let likes = pattern.matches(bytes, name)
            if likes == .exactly { return (member, members.position) }
            if likes == .nearly { likeness = likeness ?? member }
        }
        return (likeness, members.position)
    }

    /// The first member whose name is another spelling of a name.
    func likeness(of name: String, in container: Int) -> Member? {
        member(CodingStep(name: name), of: container).0
    }
}

/// A name to compare with those in a document, where no memory is taken for one that has no escapes.
private struct NamePattern {
    enum Match {
        case exactly
        case nearly
        case not
    }

    private let exact: [UInt8]
    private let folded: [UInt8]
    /// How many names with escapes are still looked at: each takes a hundred times as long as one without.
    private var patience = 1000

    init(_ name: String) {
        exact = Array(name.utf8)
        folded = exact.compactMap(Self.folded)
    }

    /// - Parameters:
    ///   - bytes: The document.
    ///   - quoted: Where in it a name is, with its quotes.
    mutating func matches(_ bytes: [UInt8], _ quoted: Range<Int>) -> Match {
        // Each byte may be written as an escape of six; a longer name need not be looked at.
        guard 2...6 * exact.count + 16 ~= quoted.count else { return .not }
        let name = quoted.lowerBound + 1..<quoted.upperBound - 1
        guard name.contains(where: { bytes[$0] == UInt8(ascii: "\\") }) else { return compare(bytes, name) }
        guard patience > 0 else { return .not }
        patience -= 1
        let unescaped = Array(JSONText.unescaped(bytes[quoted]).utf8)
        return compare(unescaped, unescaped.indices)
    }

    private func compare(_ bytes: [UInt8], _ name: Range<Int>) -> Match {
        if name.count == exact.count, name.allSatisfy({ bytes[$0] == exact[$0 - name.lowerBound] }) { return .exactly }
        var index = 0
        for position in name {
            guard let byte = Self.folded(bytes[position]) else { continue }
            guard index < folded.count, folded[index] == byte else { return .not }
            index += 1
        }
        return index == folded.count && index > 0 ? .nearly : .not
    }

    /// In lower case; `nil` for what joins words.
    private static func folded(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"): nil
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: byte
        }
    }
}
