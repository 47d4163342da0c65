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
