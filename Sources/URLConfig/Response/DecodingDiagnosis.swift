/// Why a content could not be decoded, in words, and the few lines of it that show it.
///
/// It is made when an error is shown, not when it is thrown: a caller that tries one model after the other does not pay for it.
/// Whatever the content, it takes a few milliseconds at most: no more than ``limit`` bytes are looked at, each a few times.
struct DecodingDiagnosis {
    /// What follows `cannot read User`.
    private(set) var sentence: String
    /// The content around the place.
    private(set) var lines: [String] = []

    /// The number of bytes that are looked at.
    static let limit = 500_000

    private let response: DataResponse
    private let redaction: Redaction

    init(_ response: DataResponse, _ error: any Error, _ redaction: Redaction) {
        self.response = response
        self.redaction = redaction
        let type = response.contentType?.essence.shortened(to: 80) ?? "unnamed content type"
        sentence = " from \(response.data.count.shownAsBytes) of \(type): "
        let error =
            error as? DecodingError
            ?? .dataCorrupted(.init(codingPath: [], debugDescription: error.summary(redaction)))
        let isPlaced = error.isPlaced
        let speaksOfJSON = error.context.debugDescription.contains("JSON")
        switch ContentKind(response.data) {
        case .empty: sentence += "the content is empty"
        case .html(let title) where !isPlaced || error.context.codingPath.isEmpty:
            let name = title.map { " titled “\(redaction.opening(of: $0))”" } ?? ""
            sentence += "it is an HTML page\(name)\(speaksOfJSON ? ", not JSON" : "")"
        case .json where !isPlaced && error.context.debugDescription.contains("not valid JSON"): explainSyntax()
        case .json where isPlaced:
            sentence += error.summary(redaction)
            explainEnvelope(error)
            lines = JSONPlaceLines(error, response.data, redaction).lines
        case .xml where speaksOfJSON: sentence += "it is XML, not JSON"
        case .wideText where speaksOfJSON: sentence += "it is UTF-16 or UTF-32 that is not valid JSON"
        case .binary where speaksOfJSON: sentence += "it is binary, not JSON"
        case .text where speaksOfJSON:
            sentence += "it is text, not JSON"
            lines = [redaction.opening(of: String(decoding: response.data.prefix(1024), as: UTF8.self))]
        default: sentence += error.summary(redaction)
        }
    }

    private mutating func explainSyntax() {
        let scanner = JSONScanner(Array(response.data.prefix(Self.limit)))
        let syntax = JSONSyntax(scanner)
        if syntax.isCut, scanner.end < response.data.count {
            sentence += "it is not valid JSON, but the first \(scanner.end.shownAsBytes) are"
        } else if let fault = syntax.fault {
            let path = scanner.path(fault.frames)
            let name = path.isEmpty ? "" : " in \(path.text(redaction))"
            sentence +=
                syntax.isCut
                ? "the JSON breaks off\(name), after \(fault.offset) bytes"
                : "it is not valid JSON: \(fault.words) at \(scanner.line(of: fault.offset))\(name)\(charset(fault))"
            show(fault, in: scanner, note: syntax.isCut ? "it breaks off here" : fault.words)
        } else {
            sentence += "it is valid JSON, but a number in it does not fit its type, and the decoder does not say which"
            guard let number = syntax.oddNumber else { return }
            sentence += "; the first that is no integer is \(scanner.path(number.frames).text(redaction))"
            show(number, in: scanner, note: number.words)
        }
    }

    private mutating func show(_ finding: JSONSyntax.Finding, in scanner: JSONScanner, note: String) {
        var scanner = scanner
        scanner.end = finding.offset
        let frames = finding.frames
        let hidden = frames.firstIndex { $0.member.map { scanner.hides($0, redaction) } ?? false }
        guard let index = hidden ?? frames.indices.last else { return }
        lines = JSONFragment(scanner: scanner, redaction: redaction).lines(
            of: frames[index].container, path: index == 0 ? "" : scanner.path(frames.prefix(index)).text(redaction),
            .last, note)
    }

    private func charset(_ fault: JSONSyntax.Finding) -> String {
        guard fault.words == JSONSyntax.encoding, let charset = response.contentType?.parameters["charset"],
            !["utf-8", "utf8"].contains(charset.lowercased())
        else { return "" }
        return "; the content type says \(charset.shortened(to: 40)), but JSON is UTF-8 (RFC 8259 §8.1)"
    }

    private mutating func explainEnvelope(_ error: DecodingError) {
        guard error.isNearTop,
            let message = ErrorEnvelope.message(in: response, but: error.context.codingPath.first, redaction)
        else { return }
        sentence += "; the answer looks like an error instead: “\(message)”"
    }
}

extension DecodingError {
    /// Whether the decoder says where in the document it failed.
    fileprivate var isPlaced: Bool {
        if case .dataCorrupted(let context) = self { return !context.codingPath.isEmpty }
        return true
    }

    /// Whether it is the top level that is another than expected.
    fileprivate var isNearTop: Bool {
        switch self {
        case .keyNotFound(_, let context): context.codingPath.isEmpty
        case .valueNotFound(_, let context), .typeMismatch(_, let context): context.codingPath.count <= 1
        default: false
        }
    }
}

extension Redaction {
    /// The beginning of a text of no known kind, what looks like a form, JSON or a secret in a sentence masked.
    func text(_ text: String) -> String { words(body(Data(String(text.unicodeScalars.prefix(1000)).utf8), nil)) }

    /// The beginning of a text, up to what may be JSON: where that is broken, it is not sure what is a name and what a value.
    func opening(of text: String) -> String {
        let plain = text.utf8.prefix { !"{[\"".utf8.contains($0) }
        return self.text(String(plain) ?? "").shortened(to: 120) + (plain.count < text.utf8.count ? "…" : "")
    }
}

extension JSONScanner {
    fileprivate func path(_ frames: some Sequence<JSONSyntax.Frame>) -> [CodingStep] {
        frames.compactMap { frame in frame.member.map { step($0, index: frame.index) } }
    }

    /// Such as `line 3, column 14`; `byte 120` where there is only one line.
    fileprivate func line(of offset: Int) -> String {
        let before = bytes[..<offset]
        guard let last = before.lastIndex(of: UInt8(ascii: "\n")) else { return "byte \(offset)" }
        let count = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        return "line \(count), column \(offset - last)"
    }
}
