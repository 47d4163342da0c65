/// Where in a document a coding path ends.
struct JSONPlace {
    /// Where the object or array opens in which the path ends; `nil` at the top level.
    private(set) var container: Int?
    /// How many steps lead to the container.
    private(set) var depth = 0
    /// What the path names in it; `nil` if it does not exist.
    private(set) var member: JSONTokenizer.Member?
    /// Whether the value is hidden: then the path is not followed into it.
    private(set) var isHidden = false

    /// The place, or `nil` if it takes too long to find.
    ///
    /// A name that does not exist may be spelled otherwise, `view_count` for `viewCount`: a decoder may convert names.
    init?(_ path: [CodingStep], in json: JSONTokenizer, _ redaction: Redaction) {
        member = JSONTokenizer.Member(value: json.root)
        // A similar name is known only at the end of its object. Nested ones would take quadratic time.
        var budget = 3 * json.end + 1000
        for (depth, step) in path.enumerated() {
            guard let container = member?.value, json.opens(at: container) else { return }
            let (found, position) = json.member(step, of: container)
            budget -= position - container
            guard budget > 0 else { return nil }
            (self.container, self.depth, member) = (container, depth, found)
            isHidden = redaction.hides(step) || found.map { json.hides($0, redaction) } ?? false
            if isHidden { return }
        }
    }
}

extension JSONTokenizer {
    /// What a step leads to, and how much was read for it.
    func member(_ step: CodingStep, of container: Int) -> (Member?, Int) {
        guard self[container] == UInt8(ascii: "[") else {
            guard step.name.utf8.count <= Redaction.longestStep else { return (nil, container) }
            let (exact, similar, position) = member(named: step.name, in: container)
            return (exact ?? similar, position)
        }
        var tokens = reading(from: container)
        var rest = step.index ?? -1
        while rest >= 0, let member = tokens.nextMember() {
            if rest == 0 { return (member, tokens.position) }
            rest -= 1
        }
        return (nil, tokens.position)
    }
}
