import URLConfig

/// One stop of the tour.
///
/// The closure begins with the code that the step is about. After a blank line, it prints and checks the results.
struct Step: Sendable {
    private let title: String
    private let file: String
    private let line: Int
    private let run: @Sendable (Server) async throws -> Void

    init(
        _ title: String, file: String = #filePath, line: Int = #line,
        run: @escaping @Sendable (_ server: Server) async throws -> Void
    ) {
        self.title = title
        self.file = file
        self.line = line
        self.run = run
    }

    /// Shows and runs the step.
    ///
    /// - Returns: Whether all results were right.
    func passes(as number: Int, with server: Server) async -> Bool {
        print("\n\(number). \(title)")
        for line in code { print("   │ \(line)") }
        await server.forget()
        do {
            try await run(server)
            return true
        } catch {
            print("   ✗ \(error)")
            return false
        }
    }

    /// The code that the step is about, read from the source: it is the code that runs.
    private var code: [String] {
        guard let source = try? String(contentsOfFile: file, encoding: .utf8) else { return ["\(file):\(line)"] }
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            .dropFirst(line).prefix { !$0.isEmpty }
        let indentation = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(indentation)) }
    }
}

/// Prints a result.
func tell(_ text: String) {
    print("   → " + text.replacing("\n", with: "\n     "))
}

/// Throws unless two values are equal.
func expect<Value: Equatable>(
    _ subject: String, _ found: Value, equals expected: Value, file: String = #fileID, line: Int = #line
) throws {
    guard found != expected else { return }
    throw Mismatch(
        subject: subject, expected: String(describing: expected), found: String(describing: found),
        place: "\(file):\(line)")
}

/// Throws unless a text contains some texts, and none of some others.
func expect(
    _ subject: String, _ text: String, shows shown: [String], hides hidden: [String], file: String = #fileID,
    line: Int = #line
) throws {
    let wrong =
        shown.first { !text.contains($0) }.map { "\($0) is shown" }
        ?? hidden.first(where: text.contains).map { "\($0) is hidden" }
    guard let wrong else { return }
    throw Mismatch(subject: subject, expected: wrong, found: text, place: "\(file):\(line)")
}

/// A wrong result.
struct Mismatch: Error, CustomStringConvertible {
    let subject: String
    let expected: String
    let found: String
    let place: String

    var description: String {
        """
        \(subject) (\(place))
             expected: \(expected)
             found:    \(found)
        """
    }
}
