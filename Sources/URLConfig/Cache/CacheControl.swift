/// The directives of `Cache-Control` (RFC 9111 §5.2).
///
/// If two directives contradict each other, or a number cannot be read, the stricter meaning counts.
struct CacheControl: Sendable {
    /// The largest number of seconds (RFC 9111 §1.2.2).
    ///
    /// Apple watches have an `Int` of 32 bits, where it is one less.
    static let longest = Int(clamping: Int64(1) << 31)

    /// The directives in order; the value of a directive without one is empty.
    ///
    /// They are few, so a dictionary would take longer.
    private var directives: [(name: String, value: String)] = []

    /// - Parameter text: The value of the field; several are joined with commas.
    init(_ text: String?) {
        guard let text else { return }
        var scanner = FieldScanner(text)
        while !scanner.isAtEnd {
            scanner.skipSpace()
            if let name = scanner.token()?.lowercased() {
                let value = scanner.skip("=") ? scanner.quotedString() ?? scanner.token() : nil
                scanner.skipSpace()
                // What follows a value belongs to it, so it cannot be read.
                directives.append((name, scanner.isAtEnd || scanner.isAt(",") ? value ?? "" : "?"))
            }
            scanner.skip(to: ",")
            _ = scanner.skip(",")
        }
    }

    func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether a directive has no value, as `max-stale` for every age.
    func isBare(_ name: String) -> Bool { values(of: name) == [""] }

    /// The smallest number of seconds of a directive; 0 if one cannot be read, `nil` if there is none.
    func seconds(_ name: String) -> Int? { values(of: name).map { Self.seconds($0) ?? 0 }.min() }

    private func values(of name: String) -> [String] { directives.filter { $0.name == name }.map(\.value) }

    /// A number of seconds (RFC 9111 §1.2.2); `nil` if it is none.
    static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Int(text) ?? longest, longest)
    }
}
