extension String {
    /// The text with control and text-direction characters escaped, except line feeds and tabs.
    ///
    /// These characters can change the output of a terminal.
    var escapingControls: String { escaping(\.isHarmful) }

    /// The same text on one line: line feeds and tabs are also escaped.
    var onOneLine: String { escaping { $0.isHarmful || $0 == "\n" || $0 == "\t" } }

    private func escaping(_ isHarmful: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isHarmful) else { return self }
        return unicodeScalars.map { scalar in
            guard isHarmful(scalar) else { return String(scalar) }
            return scalar == "\n" ? "\\n" : scalar == "\t" ? "\\t" : "\\u{\(String(scalar.value, radix: 16))}"
        }.joined()
    }

    /// The text on one line, with at most `limit` Unicode scalars.
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
