// Writes a Swift file for each document into a folder. The first argument is the folder, the others are the documents.
// .ci/snippets explains what goes where.

import Foundation

/// Lines that belong together: a declaration or a statement, with its comments.
struct Chunk {
    var line: Int
    var lines: [Substring]

    var text: String { lines.joined(separator: "\n") }

    /// The first line without attributes and modifiers, after comments and the like.
    private var head: Substring {
        let before =
            #/
            ( @\w+ (\( ( "[^"]*" | \([^)]*\) | [^()"] )* \))?
            | public | private | fileprivate | internal | final | nonisolated | indirect ) \s+
            /#
        for line in lines where !line.isEmpty && line.prefixMatch(of: /\/\/|#(if|else|endif)/) == nil {
            var rest = line + " "
            while let match = rest.prefixMatch(of: before) { rest = rest[match.range.upperBound...] }
            if !rest.isEmpty { return rest }
        }
        return ""
    }
    /// Whether it belongs at file scope.
    var isDeclaration: Bool {
        head.prefixMatch(of: /(import|extension|struct|enum|class|actor|protocol|func|typealias)\b/) != nil
    }
    /// Whether a `return` in it is one of the function, and not of a closure.
    var isControlFlow: Bool { head.prefixMatch(of: /(if|guard|for|switch|while|do|return)\b/) != nil }
    /// Whether it is in a closure that receives a configuration.
    var isConfiguration: Bool {
        let lines = isControlFlow ? lines.map { $0.dropFirst(4) } : [head]
        return lines.contains { $0.prefixMatch(of: /(try\s+|_ = )*\$0\b/) != nil }
    }
    /// Whether there are nothing but comments and attributes so far, or an `#if` without its end.
    private var isIncomplete: Bool {
        lines[0].hasPrefix("#if") ? !lines.contains { $0.hasPrefix("#endif") } : head.isEmpty
    }

    static func chunks(of lines: [Substring], from line: Int) -> [Chunk] {
        let continuation = /\s|[})\].?:&|{]|"""|->|(where|else|catch|in|case|default|@unknown default)\b/
        var chunks: [Chunk] = []
        for (offset, text) in lines.enumerated() {
            if let last = chunks.last, text.isEmpty || text.prefixMatch(of: continuation) != nil || last.isIncomplete {
                chunks[chunks.count - 1].lines.append(text)
            } else {
                chunks.append(Chunk(line: line + offset, lines: [text]))
            }
        }
        return chunks
    }
}

struct Module {
    var document: String
    var needsTraits = false
    var declarations: [Chunk] = []
    var blocks: [[Chunk]] = []

    private func located(_ chunk: Chunk) -> String {
        "#sourceLocation(file: \"\(document)\", line: \(chunk.line))\n\(chunk.text)\n#sourceLocation()\n"
    }

    /// The statements of a block in a function, which contains the function of the next block.
    private func function(_ blocks: ArraySlice<[Chunk]>) -> String {
        guard let block = blocks.first else { return "" }
        let returns = block.contains { $0.isControlFlow && $0.text.contains(/\breturn +[^}\s]/) }
        let body = block.map { $0.isConfiguration ? "_configure {\n\(located($0))}\n" : located($0) }.joined()
        return """
            func _block\(blocks.startIndex)() async throws -> \(returns ? "Any?" : "Void") {
            \(body)\(function(blocks.dropFirst()))\(returns ? "return nil" : "")
            }

            """
    }

    var source: String {
        """
        import URLConfig
        private func _configure(_ change: (inout URLRequest.Config) throws -> Void) {}
        @_disfavoredOverload private func _configure(_ change: (inout URLSession.Config) throws -> Void) {}
        \(declarations.map(located).joined())\(function(blocks[...]))
        """
    }
}

for document in CommandLine.arguments.dropFirst(2) {
    let name = URL(fileURLWithPath: document).deletingPathExtension().lastPathComponent.replacing(/\W/, with: "_")
    let lines = try String(contentsOfFile: document, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
    var modules = [Module(document: document)]
    var imagined: [Chunk] = []
    var (compiled, leftOut) = (0, 0)
    var isLeftOut = false
    var index = 0

    func fail(_ message: String) -> Never {
        print("\(document):\(index + 1): error: \(message)")
        exit(1)
    }
    /// The lines after this one, up to the next that is `end`.
    func block(to end: String) -> [Substring] {
        let start = index + 1
        guard let stop = lines[start...].firstIndex(where: { $0.drop { $0 == " " } == end }) else {
            fail("There is no line \(end) that ends the block.")
        }
        index = stop
        return Array(lines[start..<stop])
    }

    while index < lines.count {
        let first = index + 2
        let indent = lines[index].prefix { $0 == " " }.count
        let line = lines[index].dropFirst(indent)
        if line == "<!-- swift" {
            imagined += Chunk.chunks(of: block(to: "-->"), from: first)
        } else if line == "<!-- swift: start anew -->" {
            modules.append(Module(document: document))
        } else if line == "<!-- swift: with the traits -->" {
            modules.append(Module(document: document, needsTraits: true))
        } else if line.hasPrefix("<!-- swift: not compiled, since ") {
            isLeftOut = true
        } else if line.hasPrefix("```") {
            let text = block(to: "```").map { $0.dropFirst(min(indent, $0.prefix { $0 == " " }.count)) }
            let isSwift = line.prefixMatch(of: /```\s*swift\b/) != nil
            if isSwift, isLeftOut {
                isLeftOut = false
                leftOut += 1
            } else if isSwift {
                let chunks = Chunk.chunks(of: text, from: first)
                modules[modules.count - 1].declarations += chunks.filter(\.isDeclaration)
                modules[modules.count - 1].blocks.append(chunks.filter { !$0.isDeclaration })
                compiled += 1
            }
        } else if line.contains("<!-- swift") || line.contains("```swift") || isLeftOut && !line.isEmpty {
            fail("This is none of the forms that .ci/snippets explains.")
        }
        index += 1
    }
    for (number, var module) in modules.enumerated() {
        module.declarations += imagined
        let suffix = module.needsTraits ? "_WithTraits" : ""
        let file = CommandLine.arguments[1] + "/Document_\(name)_\(number + 1)\(suffix).swift"
        try module.source.write(toFile: file, atomically: false, encoding: .utf8)
    }
    print("\(document): \(compiled) compiled, \(leftOut) left out")
}
