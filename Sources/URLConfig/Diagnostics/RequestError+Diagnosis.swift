/// Errors that the content explains. It is read when the error is shown, not when it is thrown.
extension RequestError {
    /// An error about a status that is not one of those asked for.
    init(unacceptable response: DataResponse) {
        self.init(
            .unacceptableStatus, stage: .validating, reason: "that status is not accepted here", response: response)
        isDiagnosed = true
    }

    /// An error about a content that a decoder refused.
    init(undecoded model: any Any.Type, response: DataResponse, underlyingError: any Error) {
        self.init(
            .decoding, stage: .decoding, reason: "cannot read \(unwrapped(model))", response: response,
            underlyingError: underlyingError)
        isDiagnosed = true
    }

    /// What the content adds to the reason, and the lines of it that show it.
    var diagnosis: (sentence: String, lines: [String])? {
        guard isDiagnosed, let response else { return nil }
        let redaction = shownRedaction
        guard let underlyingError else { return (response.words(redaction).map { "; \($0)" } ?? "", []) }
        let diagnosis = DecodingDiagnosis(response, underlyingError, redaction)
        return (diagnosis.sentence, diagnosis.lines)
    }
}

extension DataResponse {
    /// What a refused response says about itself.
    fileprivate func words(_ redaction: Redaction) -> String? {
        switch ContentKind(data) {
        case .html(let title?): "the content is an HTML page titled “\(redaction.opening(of: title))”"
        case .html: "the content is an HTML page"
        case .json: ErrorEnvelope.message(in: self, redaction).map { "the content says “\($0)”" }
        case .text where data.count <= 1024:
            "the content says “\(redaction.opening(of: shownText))”"
        default: nil
        }
    }

    /// The content in its character set, or what there is of it in UTF-8.
    fileprivate var shownText: String {
        data.text(charset: contentType?.parameters["charset"]) ?? String(decoding: data, as: UTF8.self)
    }
}

/// `User` for `User?`, which is read in the same way.
private func unwrapped(_ type: any Any.Type) -> any Any.Type {
    (type as? any OptionalType.Type)?.wrapped ?? type
}
