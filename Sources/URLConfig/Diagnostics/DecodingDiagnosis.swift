/// Explains why the content could not be decoded, and shows the lines around the place.
///
/// It is made only when an error is shown, so trying several models costs nothing. It takes a few milliseconds: at most
/// ``limit`` bytes are read, each a few times.
struct DecodingDiagnosis {
    /// The explanation, which follows `cannot read User`.
    private(set) var sentence: String
    private(set) var lines: [String] = []

    static let limit = 500_000

    init(_ response: DataResponse, _ error: any Error, _ redaction: Redaction) {
        let type = response.contentType?.essence.shortened(to: 80) ?? "unnamed content type"
        sentence = " from \(response.data.count.shownAsBytes) of \(type): "
        let error =
            error as? DecodingError
            ?? .dataCorrupted(.init(codingPath: [], debugDescription: error.summary(redaction)))
        let isCorrupt = if case .dataCorrupted = error { true } else { false }
        let isPlaced = !error.path.isEmpty || !isCorrupt
        let said = error.context.debugDescription
        let speaksOfJSON = said.contains("JSON")
        switch ContentKind(response.data) {
        case .empty: sentence += "the content is empty"
        case .html(let title) where !isPlaced || error.context.codingPath.isEmpty:
            sentence += "it is " + redaction.page(title) + (speaksOfJSON ? ", not JSON" : "")
        case .json where !isPlaced && said.contains("not valid JSON"): explainSyntax(response, redaction)
        case .json where isPlaced:
            sentence += error.summary(redaction)
            let known = error.context.codingPath.first
            if !isCorrupt, error.path.count <= 1,
                let message = ErrorEnvelope.message(in: response, but: known, redaction)
            {
                sentence += "; the response looks like an error instead: “\(message)”"
            }
            let json = JSONTokenizer(response.data.prefix(Self.limit))
            lines = JSONExcerpt(json: json, redaction: redaction).lines(around: error, of: response.data.count)
        case .xml where speaksOfJSON: sentence += "it is XML, not JSON"
        case .wideText where speaksOfJSON: sentence += "it is UTF-16 or UTF-32 that is not valid JSON"
        case .binary where speaksOfJSON: sentence += "it is binary, not JSON"
        case .text where speaksOfJSON:
            sentence += "it is text, not JSON"
            lines = [redaction.opening(of: String(decoding: response.data.prefix(1024), as: UTF8.self))]
        default: sentence += error.summary(redaction)
        }
    }

    /// Explains the first fault, or which number may not fit, and shows the innermost object or array there.
    private mutating func explainSyntax(_ response: DataResponse, _ redaction: Redaction) {
        var json = JSONTokenizer(response.data.prefix(Self.limit))
        json.check()
        let isCut = json.fault?.offset == json.end
        if isCut, json.end < response.data.count {
            sentence += "it is not valid JSON; the first \(json.end.shownAsBytes) are valid, the rest was not searched"
            return
        }
        let isValid = json.fault == nil
        if isValid {
            sentence += "it is valid JSON, but a number does not fit its type, and the decoder does not say which"
        }
        guard let (offset, words, frames) = json.fault ?? json.oddNumber else { return }
        let path = json.path(frames)
        let place = path.isEmpty ? "" : " in \(path.text(redaction))"
        switch (isValid, isCut) {
        case (true, _): sentence += "; the first that is not an integer is \(path.text(redaction))"
        case (_, true): sentence += "the JSON is cut off\(place), after \(offset) bytes"
        default: sentence += "it is not valid JSON: \(words) at \(json.line(of: offset))\(place)"
        }
        let charset = response.contentType?.charset ?? "utf-8"
        if words == JSONString.notUTF8, !["utf-8", "utf8"].contains(charset.lowercased()) {
            sentence += "; the content type says \(charset.shortened(to: 40)), but JSON is UTF-8 (RFC 8259 §8.1)"
        }
        json.end = offset
        let excerpt = JSONExcerpt(json: json, redaction: redaction)
        lines = excerpt.lines(excerpt.visible(frames), path, isCut ? "cut off here" : words, isEnd: true)
    }
}

extension Redaction {
    /// The beginning of a text of unknown kind, masked as a form or as JSON.
    func text(_ text: String) -> String { body(Data(String(text.unicodeScalars.prefix(1000)).utf8), nil) }

    /// The beginning of a text, up to what may be JSON: in broken JSON, names look like values.
    func opening(of text: String) -> String {
        let plain = text.utf8.prefix { !"{[\"".utf8.contains($0) }
        return self.text(String(plain) ?? "").shortened(to: 120) + (plain.count < text.utf8.count ? "…" : "")
    }

    func page(_ title: String?) -> String { "an HTML page" + (title.map { " titled “\(opening(of: $0))”" } ?? "") }
}

extension JSONTokenizer {
    /// Such as `line 3, column 14`, or `byte 120` if there is only one line.
    fileprivate func line(of offset: Int) -> String {
        let before = bytes[..<offset]
        guard let last = before.lastIndex(of: UInt8(ascii: "\n")) else { return "byte \(offset)" }
        return "line \(before.count { $0 == UInt8(ascii: "\n") } + 1), column \(offset - last)"
    }
}
