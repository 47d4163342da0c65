extension RequestError {
    /// An error about a content that a decoder does not take.
    init(undecoded model: any Any.Type, response: DataResponse, underlyingError: any Error) {
        self.init(
            .decoding, stage: .decoding, reason: "cannot read \(model)", response: response,
            underlyingError: underlyingError)
        isDiagnosed = true
    }

    /// Why the content could not be decoded.
    var diagnosis: DecodingDiagnosis? {
        guard isDiagnosed, let response, let underlyingError else { return nil }
        return DecodingDiagnosis(response, underlyingError, redaction ?? URLSession.Config.default.redaction)
    }
}
