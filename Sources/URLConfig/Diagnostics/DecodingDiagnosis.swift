/// Why a content could not be decoded, in words, and the few lines of it that show the place.
///
/// It is made when an error is shown, not when it is thrown: a caller that tries several models does not pay for it.
/// It takes a few milliseconds, whatever the content: at most ``limit`` bytes are read, each a few times.
struct DecodingDiagnosis {
    /// What follows `cannot read User`.
    private(set) var sentence: String
    /// The content around the place.
    private(set) var lines: [String] = []

    /// The most bytes of a content that are read.
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
        case .json where !isPlaced && error.context.debugDescription.contains("not valid JSON"):
            explainSyntax(JSONTokenizer(response.data.prefix(Self.limit)))
        case .json where isPlaced:
            sentence += error.summary(redaction)
            explainEnvelope(error)
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

    private mutating func explainSyntax(_ json: JSONTokenizer) {
        var json = json
        json.check()
        if let fault = json.fault {
            let isCut = fault.offset == json.end
            guard !isCut || json.end == response.data.count else {
                sentence += "it is not valid JSON, but the first \(json.end.shownAsBytes) are"
                return
            }
            let path = json.path(fault.frames)
            let name = path.isEmpty ? "" : " in \(path.text(redaction))"
            sentence +=
                isCut
                ? "the JSON breaks off\(name), after \(fault.offset) bytes"
                : "it is not valid JSON: \(fault.words) at \(json.line(of: fault.offset))\(name)\(charset(fault))"
            show(fault, in: json, note: isCut ? "it breaks off here" : fault.words)
        } else {
            sentence += "it is valid JSON, but a number in it does not fit its type, and the decoder does not say which"
            guard let number = json.oddNumber else { return }
            sentence += "; the first that is no integer is \(json.path(number.frames).text(redaction))"
            show(number, in: json, note: number.words)
        }
    }

    /// Shows the innermost object or array that is open at a place, or the outermost one with a hidden member there.
    private mutating func show(_ finding: JSONTokenizer.Finding, in json: JSONTokenizer, note: String) {
        let frames = finding.frames
        let hidden = frames.firstIndex { $0.member.map { json.hides($0, redaction) } ?? false }
        guard let index = hidden ?? frames.indices.last else { return }
        var json = json
        json.end = finding.offset
        lines = JSONExcerpt(json: json, redaction: redaction).lines(
            of: frames[index].start, path: index == 0 ? "" : json.path(frames.prefix(index)).text(redaction), .last,
            note)
    }

    private func charset(_ fault: JSONTokenizer.Finding) -> String {
        guard fault.words == JSONTokenizer.notUTF8, let charset = response.contentType?.parameters["charset"],
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
    /// The beginning of a text of unknown kind, masked as a form or as JSON.
    func text(_ text: String) -> String { body(Data(String(text.unicodeScalars.prefix(1000)).utf8), nil) }

    /// The beginning of a text, up to what may be JSON: if that is broken, names cannot be told from values.
    func opening(of text: String) -> String {
        let plain = text.utf8.prefix { !"{[\"".utf8.contains($0) }
        return self.text(String(plain) ?? "").shortened(to: 120) + (plain.count < text.utf8.count ? "…" : "")
    }
}

extension JSONTokenizer {
    fileprivate func path(_ frames: some Sequence<Frame>) -> [CodingStep] {
        frames.compactMap { frame in
            frame.member.map { CodingStep(name: $0.name.map(name) ?? "", index: $0.name == nil ? frame.index : nil) }
        }
    }

    /// Such as `line 3, column 14`; `byte 120` where there is only one line.
    fileprivate func line(of offset: Int) -> String {
        let before = bytes[..<offset]
        guard let last = before.lastIndex(of: UInt8(ascii: "\n")) else { return "byte \(offset)" }
        let count = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        return "line \(count), column \(offset - last)"
    }
}
