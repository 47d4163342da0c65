/// Errors that the content explains. The content is read when the error is shown, not when it is thrown.
extension RequestError {
    init(unacceptable response: DataResponse) {
        self.init(.unacceptableStatus, reason: "that status is not accepted here", response: response)
        isDiagnosed = true
    }

    init(undecoded model: any Any.Type, response: DataResponse, underlyingError: any Error) {
        // The content of `User?` is that of `User`.
        let model = (model as? any OptionalType.Type)?.wrapped ?? model
        self.init(.decoding, reason: "cannot read \(model)", response: response, underlyingError: underlyingError)
        isDiagnosed = true
    }

    /// The sentence that the content adds to the reason, and the lines that show the place.
    var diagnosis: (sentence: String, lines: [String])? {
        guard isDiagnosed, let response else { return nil }
        let redaction = shownRedaction
        guard let underlyingError else { return (response.words(redaction).map { "; the content \($0)" } ?? "", []) }
        let diagnosis = DecodingDiagnosis(response, underlyingError, redaction)
        return (diagnosis.sentence, diagnosis.lines)
    }
}

extension DataResponse {
    fileprivate func words(_ redaction: Redaction) -> String? {
        switch ContentKind(data) {
        case .html(let title): return "is " + redaction.page(title)
        case .json: return ErrorEnvelope.message(in: self, redaction).map { "says “\($0)”" }
        case .text where data.count <= 1024:
            let text = data.text(charset: contentType?.charset) ?? String(decoding: data, as: UTF8.self)
            return "says “\(redaction.opening(of: text))”"
        default: return nil
        }
    }
}
