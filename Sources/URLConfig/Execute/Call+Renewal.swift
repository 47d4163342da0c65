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
            let (tokens, onUnauthorized) = (config.tokens, config.onUnauthorized)
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

extension URLSession {
    /// Whether the session's configuration adds an `Authorization`.
    var addsAuthorization: Bool {
        (configuration.httpAdditionalHeaders ?? [:]).keys.contains {
            ($0 as? String)?.lowercased() == "authorization"
        }
    }
}

/// The URLs at another origin than their preset, for errors: a request does not know its preset, whose credentials may
/// have been left out.
enum LeftOutCredentials {
    /// The origin of the last preset for each URL, of at most a hundred URLs.
    private static let presets = Locked<[URL: Origin]>([:])

    static func note(of preset: URL?, for url: URL) {
        guard let preset, preset.host() != nil else { return }
        presets.withLock { presets in
            if presets.count >= 100 { presets = [:] }
            presets[url] = Origin(preset)
        }
    }

    /// The end of a sentence about a request without credentials; empty if its preset is not known to have had some.
    static func words(for url: URL?) -> String {
        guard let url, let preset = presets.withLock({ $0[url] }) else { return "" }
        return "; the preset's may have been left out, because \(Origin(url)) is another origin than \(preset)"
    }
}
