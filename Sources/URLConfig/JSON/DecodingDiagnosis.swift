/// Errors that the content explains. The content is read when the error is shown, not when it is thrown.
extension RequestError {
    init(unacceptable response: DataResponse) {
        self.init(.unacceptableStatus, reason: "the status is not accepted", response: response)
        isDiagnosed = true
    }

    init(
        undecoded model: any Any.Type, response: DataResponse, _ decoder: any ResponseDecoder,
        underlyingError: any Error
    ) {
        // `User?` is read from the same content as `User`.
        let model = (model as? any OptionalType.Type)?.wrapped ?? model
        self.init(.decoding, reason: "cannot read \(model)", response: response, underlyingError: underlyingError)
        isDiagnosed = true
        readsMoreThanJSON = (decoder as? JSONDecoder).map { $0.allowsJSON5 || $0.assumesTopLevelDictionary } ?? false
    }

    /// The sentence that the content adds to the reason, and the lines that show the place.
    var diagnosis: (sentence: String, lines: [String])? {
        guard isDiagnosed, let response else { return nil }
        let redaction = shownRedaction
        guard let underlyingError else { return (response.words(redaction).map { "; \($0)" }.joined(), []) }
        // Of what is not JSON, the place of a fault is not known.
        let hasPlace = !readsMoreThanJSON || response.isJSON
        let diagnosis = DecodingDiagnosis(response, underlyingError, redaction, hasPlace: hasPlace)
        return (diagnosis.sentence, diagnosis.lines)
    }
}

extension DataResponse {
    /// Whether the content, as far as it is read to explain an error, is JSON.
    fileprivate var isJSON: Bool {
        var json = JSONTokenizer(data.prefix(DecodingDiagnosis.limit))
        json.check()
        return json.fault == nil
    }

    /// Explains a status by the content, `Retry-After` and missing credentials.
    fileprivate func words(_ redaction: Redaction) -> [String] {
        var words: [String] = []
        switch ContentKind(data) {
        case .html(let title): words = ["the content is " + redaction.page(title)]
        case .json:
            let message = problem?.description ?? ErrorEnvelope.message(in: self, redaction)
            words = message.map { ["the content says “\($0)”"] } ?? []
        case .text where data.count <= 1024:
            let text = data.text(charset: contentType?.charset) ?? String(decoding: data, as: UTF8.self)
            words = ["the content says “\(redaction.opening(of: text))”"]
        default: break
        }
        if let retryAfter { words.append("Retry-After is \(retryAfter.shown)") }
        // What the session adds is not known here.
        let hasCredentials =
            (request.allHTTPHeaderFields ?? [:]).keys.contains(where: redaction.isCredential)
            || !SecretFinder(Array((request.url?.absoluteString ?? "").utf8), .url, redaction).secrets.isEmpty
        if status == .unauthorized, !hasCredentials {
            words.append("the request itself has no credentials" + LeftOutCredentials.words(for: request.url))
        }
        return words
    }
}

/// Explains why the content could not be decoded, and shows the lines around the place.
///
/// It is made only when an error is shown, so trying several models costs nothing. It takes a few milliseconds: at most
/// ``limit`` bytes are read, each a few times.
struct DecodingDiagnosis {
    /// The explanation, which follows `cannot read User`.
    private(set) var sentence: String
    private(set) var lines: [String] = []

    static let limit = 500_000

    /// - Parameter hasPlace: Whether the decoder reads the content as JSON, so that the place of a fault is known.
    init(_ response: DataResponse, _ error: any Error, _ redaction: Redaction, hasPlace: Bool = true) {
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
        case .empty:
            let hint = response.isWithoutContent ? "; decode an optional, which is nil then" : ""
            sentence += "the content is empty" + hint
        case .html(let title) where !isPlaced || error.context.codingPath.isEmpty:
            sentence += "it is " + redaction.page(title) + (speaksOfJSON ? ", not JSON" : "")
        case .json where !isPlaced && said.contains("not valid JSON") && hasPlace:
            explainSyntax(response, redaction)
        case .json where isPlaced:
            let excerpt = JSONExcerpt(json: JSONTokenizer(response.data.prefix(Self.limit)), redaction: redaction)
            sentence += error.summary(redaction, isHidden: excerpt.hidesValue(at: error.context.codingPath))
            let known = error.context.codingPath.first
            if !isCorrupt, error.path.count <= 1,
                let message = ErrorEnvelope.message(in: response, but: known, redaction)
            {
                sentence += "; the response looks like an error instead: “\(message)”"
            }
            if hasPlace { lines = excerpt.lines(around: error, of: response.data.count) }
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
        // A string without its colon may be a value: it is neither named nor shown.
        let string = !isCut && words.hasPrefix("expected \":\"") ? frames.last?.name : nil
        let path = json.path(string == nil ? frames : frames.dropLast())
        let place = path.isEmpty ? "" : " in \(path.text(redaction))"
        switch (isValid, isCut) {
        case (true, _): sentence += "; the first that is not an integer is \(path.text(redaction))"
        case (_, true): sentence += "the JSON is cut off\(place), after \(offset) bytes"
        default: sentence += "it is not valid JSON: \(words) at \(json.line(of: offset))\(place)"
        }
        if words == JSONString.notUTF8, let type = response.contentType, let charset = type.charset,
            !type.hasCharset(["utf-8", "utf8"])
        {
            sentence += "; the content type says \(charset.shortened(to: 40)), but JSON is UTF-8 (RFC 8259 §8.1)"
        }
        json.end = string?.lowerBound ?? offset
        let excerpt = JSONExcerpt(json: json, redaction: redaction)
        lines = excerpt.lines(excerpt.visible(frames), path, isCut ? "cut off here" : words, isEnd: true)
    }
}

extension Redaction {
    /// The beginning of a text, masked.
    func text(_ text: String) -> String { quote(text).escapingControls }

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

/// The kind of content as its first bytes show it; the content type may be wrong.
enum ContentKind: Equatable {
    case empty
    case json
    case html(title: String?)
    case xml
    /// UTF-16 or UTF-32.
    case wideText
    case text
    case binary

    init(_ data: Data) {
        var start = Array(data.prefix(4096))
        let isWide = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
        let rest = start.drop(while: \.isJSONSpace)
        let text = String(decoding: rest, as: UTF8.self)
        switch rest.first {
        case nil: self = data.count <= 4096 ? .empty : .text
        case _ where isWide || rest.count > 3 && rest.prefix(4).filter({ $0 == 0 }).count > 1: self = .wideText
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
        case _ where rest.contains { $0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B }: self = .binary
        case UInt8(ascii: "\""): self = .json
        case UInt8(ascii: "<"):
            let isPage = text.contains(/(?i)<(!doctype html|html|body|head)/)
            self = isPage ? .html(title: Self.title(in: text)) : .xml
        default:
            let word = String(decoding: rest.prefix(400), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            let isNumber = word.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
            self = isNumber || ["true", "false", "null"].contains(word) ? .json : .text
        }
    }

    /// The title of a page, such as `502 Bad Gateway`.
    private static func title(in page: String) -> String? {
        guard let tag = page.firstRange(of: /(?i)<title/),
            let start = page.unicodeScalars[tag.upperBound...].firstIndex(of: ">")
        else { return nil }
        let title = String(page.unicodeScalars[start...].dropFirst().prefix { $0 != "<" })
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return title.isEmpty ? nil : title
    }
}

/// Finds the message of an error that a service sends instead of the model, such as `{"error": {"message": …}}`.
enum ErrorEnvelope {
    private static let first = JSONKey(intValue: 0)
    private static let errors: [[JSONKey]] = [
        ["error_description"], ["error", "message"], ["error", "detail"], ["error", "description"], ["error"],
        ["errors", first, "message"], ["errors", first, "detail"], ["errors", first, "title"], ["errors", first],
        ["fault", "faultstring"],
    ]
    /// Members that a model may also have: if the status is 2xx, another sign of an error is needed.
    private static let weak: [[JSONKey]] = [["detail"], ["title"], ["message"]]
    private static let signs: [JSONKey] = ["success", "ok", "code", "error_code", "errorCode", "errcode"]

    /// The message, or `nil` if the content is not such an error.
    ///
    /// - Parameter known: A member of the model, which is not a sign of an error.
    static func message(
        in response: DataResponse, but known: (any CodingKey)? = nil, _ redaction: Redaction
    ) -> String? {
        // Errors are small: a large document is not searched.
        guard response.data.count <= 65_536 else { return nil }
        let json = JSONTokenizer(response.data)
        guard json[json.root] == UInt8(ascii: "{") else { return nil }
        let isError =
            !response.isSuccess || response.hasContentType(.problem)
            || (known == nil && signs.contains { json.frames(along: [$0])?.last?.value != nil })
        for path in errors + (isError ? weak : []) where path[0].stringValue != known?.stringValue {
            guard let frames = json.frames(along: path), frames.count == path.count,
                !frames.contains(where: { json.hides($0, redaction) }),
                let start = frames.last?.value, json[start] == UInt8(ascii: "\"")
            else { continue }
            let text = JSONString(json.value(at: start)).text
            if !text.isEmpty { return redaction.text(text).shortened(to: 160) }
        }
        return nil
    }
}
