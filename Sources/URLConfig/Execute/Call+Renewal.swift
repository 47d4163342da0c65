extension Call {
    /// Asks the authenticator for other credentials.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unauthorized`` if there are none, or if the request
    ///   cannot be sent again.
    func renew(_ step: Shared<Step>, after received: Received) async throws {
        var response = received.response
        response.requestAsMade = step.request
        var reason = "the server refused the credentials" + (step.hasNewCredentials ? ", and the new ones too" : "")
        var hasOthers = false
        if let authenticator = config.authenticator, !step.hasNewCredentials {
            response.data = try await received.withContent(config.clock, within: .seconds(1)).response.data
            // A renewal may need the connection, and the body of a stream may not end.
            received.endBody()
            hasOthers = try await deadline.run { [response] in
                try await WorkScope.of(authenticator.object) { try await authenticator.reauthorize(after: response) }
            }
        }
        try Task.checkCancellation()
        if hasOthers {
            if step.canBeSentAgain { return }
            // The next call uses the new credentials, so the user must not be signed out.
            reason += "; there are new credentials, but the body stream cannot be sent again"
        } else {
            if response.data.isEmpty { response.data = try await received.withContent(config.clock).response.data }
            let (tokens, onUnauthorized) = (config.authenticator as? TokenAuthenticator, config.onUnauthorized)
            // It may wait for a closure of the app that another call runs. If the deadline passes then, the app is not
            // told, so the refusal is not a reported one.
            let refusal = try await deadline.run { [response] in
                let refusal = await tokens?.explanation(of: response, reports: onUnauthorized != nil)
                if refusal?.isFirstRefusal ?? true { await onUnauthorized?(response) }
                return refusal
            }
            let hasNone = config.authenticator == nil && step.request.value(forHTTPHeaderField: "Authorization") == nil
            let none = "the request has no Authorization, and the call has no authenticator"
            let ownReason = hasNone ? none + LeftOutCredentials.words(for: step.request.url) : reason
            if !session.addsAuthorization { reason = refusal?.reason ?? ownReason }
        }
        throw RequestError(.unauthorized, reason: reason, response: response)
    }
}
