extension String {
    /// Without control and text-direction characters, which could rewrite a terminal or forge a line of a log; line
    /// feeds and tabs stay.
    var escapingControls: String { escaping(\.isHarmful) }

    /// The same on one line: without line feeds and tabs, too.
    var onOneLine: String { escaping { $0.isHarmful || $0 == "\n" || $0 == "\t" } }

    private func escaping(_ isHarmful: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isHarmful) else { return self }
        return unicodeScalars.reduce(into: "") { output, scalar in
            switch scalar {
            case "\n" where isHarmful(scalar): output += "\\n"
            case "\t" where isHarmful(scalar): output += "\\t"
            case _ where isHarmful(scalar): output += "\\u{\(String(scalar.value, radix: 16))}"
            default: output.unicodeScalars.append(scalar)
            }
        }
    }

    /// On one line, cut after a number of Unicode scalars.
    func shortened(to limit: Int) -> String {
        let cut = unicodeScalars.prefix(limit)
        let text = String(cut).onOneLine
        return cut.endIndex == endIndex ? text : text + "…"
    }
}

extension Unicode.Scalar {
    fileprivate var isHarmful: Bool {
        switch value {
        case 0x09, 0x0A: false
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
