/// What a service says where it answers with an error instead of the model: `{"error": {"message": …}}` and its kin, and
/// problem details (RFC 9457).
enum ErrorEnvelope {
    private static let errors: [[CodingStep]] = [
        ["error_description"], ["error", "message"], ["error", "detail"], ["error", "description"], ["error"],
        ["errors", 0, "message"], ["errors", 0, "detail"], ["errors", 0, "title"], ["errors", 0],
        ["fault", "faultstring"],
    ]
    /// Members that a model may have too: where the status is one of success, something else has to speak of an error.
    private static let weak: [[CodingStep]] = [["detail"], ["title"], ["message"]]
    private static let signs: [CodingStep] = ["success", "ok", "code", "error_code", "errorCode", "errcode"]

    /// The message, or `nil` where the content is none of these.
    ///
    /// - Parameter known: A member that the model has, which is therefore no sign of an error.
    static func message(
        in response: DataResponse, but known: (any CodingKey)? = nil, _ redaction: Redaction
    ) -> String? {
        // An error is small; a document that is not need not be searched for one.
        guard response.data.count <= 65_536 else { return nil }
        let scanner = JSONScanner(Array(response.data))
        guard scanner[scanner.root] == UInt8(ascii: "{") else { return nil }
        let isError =
            !response.isSuccess || response.hasContentType(.problem)
            || (known == nil && signs.contains { JSONPlace([$0], in: scanner, redaction)?.member != nil })
        for path in errors + (isError ? weak : []) where path[0].name != known?.stringValue {
            guard let place = JSONPlace(path, in: scanner, redaction), place.depth == path.count - 1, !place.isHidden,
                let value = place.member?.value, scanner[value] == UInt8(ascii: "\"")
            else { continue }
            let quoted = scanner.bytes[value..<scanner.endOfValue(from: value)]
            // What the one does not take, such as half a character, the other does.
            let text = (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? JSONText.unescaped(quoted)
            if !text.isEmpty { return redaction.text(text).shortened(to: 160) }
        }
        return nil
    }
}

extension CodingStep: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral name: String) { self.init(name: name) }
    init(integerLiteral index: Int) { self.init(name: "", index: index) }
}
