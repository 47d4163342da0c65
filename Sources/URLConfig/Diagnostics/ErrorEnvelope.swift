/// The message of an error that a service sends instead of the model.
///
/// It reads `{"error": {"message": …}}` and similar objects, and problem details (RFC 9457).
enum ErrorEnvelope {
    private static let errors: [[CodingStep]] = [
        ["error_description"], ["error", "message"], ["error", "detail"], ["error", "description"], ["error"],
        ["errors", 0, "message"], ["errors", 0, "detail"], ["errors", 0, "title"], ["errors", 0],
        ["fault", "faultstring"],
    ]
    /// Members that a model may have, too: if the status is a success, another sign of an error is needed.
    private static let weak: [[CodingStep]] = [["detail"], ["title"], ["message"]]
    private static let signs: [CodingStep] = ["success", "ok", "code", "error_code", "errorCode", "errcode"]

    /// The message, or `nil` if the content is not such an error.
    ///
    /// - Parameter known: A member that the model has, which is therefore not a sign of an error.
    static func message(
        in response: DataResponse, but known: (any CodingKey)? = nil, _ redaction: Redaction
    ) -> String? {
        // Errors are small: a large document is not searched for one.
        guard response.data.count <= 65_536 else { return nil }
        let json = JSONTokenizer(response.data)
        guard json[json.root] == UInt8(ascii: "{") else { return nil }
        let isError =
            !response.isSuccess || response.hasContentType(.problem)
            || (known == nil && signs.contains { JSONPlace([$0], in: json, redaction)?.member != nil })
        for path in errors + (isError ? weak : []) where path[0].name != known?.stringValue {
            guard let place = JSONPlace(path, in: json, redaction), place.depth == path.count - 1, !place.isHidden,
                let start = place.member?.value, json[start] == UInt8(ascii: "\"")
            else { continue }
            let quoted = json.value(at: start)
            // A decoder refuses some strings, such as half a character.
            let text = (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? JSONString(quoted).text
            if !text.isEmpty { return redaction.text(text).shortened(to: 160) }
        }
        return nil
    }
}

extension CodingStep: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    init(stringLiteral name: String) { self.init(name: name) }
    init(integerLiteral index: Int) { self.init(name: "", index: index) }
}
