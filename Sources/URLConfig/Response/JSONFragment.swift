/// A few lines of JSON around a place, one member a line.
///
/// ```
/// users[3] {
///   "id" : 4,
///   "email" : null,  ← here
///   "name" : "Ada"
/// }
/// ```
///
/// Objects and arrays inside it stay closed, and hidden values are masked, so that there is no way to a value but by the names
/// above it.
struct JSONFragment {
    /// What of the container is shown, and where the arrow points from.
    enum Mark {
        /// The container itself.
        case container
        /// The member that starts at a place, and its neighbours.
        case member(Int)
        /// The last one, and those before it.
        case last
    }

    let scanner: JSONScanner
    let redaction: Redaction

    /// The lines.
    ///
    /// - Parameters:
    ///   - container: Where the object or array opens.
    ///   - path: What it is called.
    ///   - mark: Where the arrow points from.
    ///   - note: What the arrow says.
    func lines(of container: Int, path: String, _ mark: Mark, _ note: String) -> [String] {
        let arrow = "  ← " + note
        let (open, close) = scanner[container] == UInt8(ascii: "{") ? ("{", "}") : ("[", "]")
        let head = path + (path.isEmpty ? "" : " ") + open
        let window = window(of: container, mark)
        guard !window.members.isEmpty else { return [head + (window.isOpen ? "" : close) + arrow] }
        var lines = window.members.map { "  " + scanner.text($0, redaction) }
        for index in lines.indices.dropLast(window.isOpen && !mark.isLast ? 0 : 1) { lines[index] += "," }
        let marked = mark.isLast ? lines.count - 1 : window.members.firstIndex { mark.isOn($0) }
        if let marked { lines[marked] += arrow }
        if window.isSkipping { lines.insert("  …", at: 0) }
        lines.insert(marked == nil ? head + arrow : head, at: 0)
        if window.isOpen, mark.isLast { return lines }
        return lines + (window.isOpen ? ["  …"] : []) + [close]
    }

    private struct Window {
        var members: [JSONScanner.Member] = []
        /// Whether there are more before.
        var isSkipping = false
        /// Whether there are more after, or the text ends.
        var isOpen = true
    }

    private func window(of container: Int, _ mark: Mark) -> Window {
        var window = Window()
        // The last four before the marked one: a ring, since there may be a million of them.
        var (before, count) = ([JSONScanner.Member](), 0)
        var rest = mark.isOnContainer ? 6 : nil
        var members = scanner.members(of: container)
        while let member = members.next() {
            if rest == nil, mark.isOn(member) { rest = 3 }
            if rest == 0 { break }
            if let count = rest {
                window.members.append(member)
                rest = count - 1
            } else {
                if count < 4 { before.append(member) } else { before[count & 3] = member }
                count += 1
            }
        }
        window.isOpen = !members.isClosed
        window.isSkipping = count > 4
        if count > 4 { before = Array(before[(count & 3)...] + before[..<(count & 3)]) }
        window.members = before + window.members
        return window
    }
}

extension JSONFragment.Mark {
    fileprivate var isOnContainer: Bool { if case .container = self { true } else { false } }
    fileprivate var isLast: Bool { if case .last = self { true } else { false } }
    fileprivate func isOn(_ member: JSONScanner.Member) -> Bool {
        if case .member(member.start) = self { true } else { false }
    }
}
