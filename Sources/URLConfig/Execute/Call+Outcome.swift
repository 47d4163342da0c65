/// What the caller receives at the end of a call.
extension Call {
    /// A response that the validators have accepted.
    func validated(_ received: Received) async throws -> Received {
        if var error = received.tooLarge {
            error.response = received.response
            throw error
        }
        var valid = received
        // A caller that connects again after a transient failure does not need the content, and it ends with 204.
        let status = received.response.status
        let isChecked = !(reconnects && (status == .noContent || isTransient(.success(status))))
        if isChecked {
            if !received.response.isSuccess { valid = try await received.withContent(config.clock) }
            try deadline.check()  // It may have ended the content.
            for validator in config.validators { valid.response = try await validated(valid.response, by: validator) }
        }
        try Task.checkCancellation()
        let response = valid.response
        if isChecked { history.add(.accepted(response.status), response.request) }
        history.log.received(response, isStream: valid.body != nil)
        return valid
    }

    private func validated(_ response: DataResponse, by validator: ResponseValidator) async throws -> DataResponse {
        try Task.checkCancellation()
        return try await deadline.run {
            var response = response
            try await validator.validate(&response)
            return self.configured(response)
        }
    }

    /// The response with the redaction and the decoder of this call, unless it comes from another call.
    func configured(_ response: DataResponse) -> DataResponse {
        guard response.redaction == nil else { return response }
        var response = response
        (response.redaction, response.decoder) = (redaction, config.customDecoder)
        // A response of another call has its own.
        if response.attempts.isEmpty { response.attempts = attempts }
        return response
    }

    /// Whether another attempt may have another outcome.
    func isTransient(_ outcome: Result<HTTPResponse.Status, any Error>) -> Bool { !config.retry.accepts(outcome) }

    /// Reports an error, unless the caller does it, and returns the error that the caller receives.
    @inline(never)
    func failure(_ error: any Error, of request: URLRequest) -> any Error {
        let error = final(error)
        if !reconnects { history.add(.failed(error), request) }
        return error
    }

    /// The error that the caller receives, with all attempts; `CancellationError` if the task is cancelled.
    @inline(never)
    func final(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        switch error.hiding(redaction) {
        // An error that has attempts comes from another call, for example one that a fallback made.
        case var error as RequestError:
            let all = error.attempts.isEmpty ? attempts : error.attempts
            error.attempts = all
            error.response?.attempts = all
            error.request = error.request ?? history.request
            return error
        case let error as URLError where error.attempts.isEmpty:
            return error.withoutMark.with(attempts, of: history.request?.summary(redaction))
        case let error: return error
        }
    }
}
