/// Where responses to a request are stored.
final class CachePlace: Sendable {
    let key: CacheKey
    /// Another digest of the same.
    let check: Digest
    let digests: Digest.Key
    let login: TokenAuthenticator.Login?
    /// The response to the request, if it is sent: what is removed from now on is not stored.
    let expected: ExpectedResponses.Response
    /// The request with what the session adds to it.
    let complete: URLRequest
    var cookie: String? { complete.value(forHTTPHeaderField: "Cookie") }

    /// `nil` if the store cannot be used.
    ///
    /// - Parameter complete: The request with what the session adds to it.
    init?(_ visit: CacheVisit, _ complete: URLRequest) async {
        let (call, conditions) = (visit.call, visit.sending.conditions)
        guard let url = visit.request.url,
            let digests = try? await visit.ask({ [core = visit.core] _ in try await core.key() })
        else { return nil }
        var (requester, login) = (Requester(named: visit.cache.requester ?? ""), TokenAuthenticator.Login?.none)
        if visit.cache.requester == nil {
            var sender = complete
            if !visit.isForeign, call.config.authorize,
                let tokens = call.config.tokens,
                // It asks a function of the app.
                let found = try? await conditions.deadline.run({ await tokens.login(of: complete) })
            {
                login = found.login
                for field in found.fields { sender.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
            }
            requester = Requester(sender, conditions.redaction, usesQuery: false)
        }
        let resource = url.normalized
        let (asked, other) = (requester.digest(digests), requester.digest(digests.other))
        key = CacheKey(resource: Digest(resource, key: digests).hex, requester: asked.hex)
        expected = visit.core.expected.begin(key)
        check = Digest("\(other.hex) \(resource)", key: digests.other)
        (self.digests, self.login, self.complete) = (digests, login, complete)
    }

    /// A stored head after a response that tells of it; `nil` if the response is about other bytes.
    func updated(
        _ head: StoredResponse.Head, by response: Transport.Response, requested: Double, received: Double
    ) -> StoredResponse.Head? {
        CachePolicy.updated(
            head, by: response.status, response.headerFields, to: complete, digests, requested: requested,
            received: received)
    }

    /// What is stored for a request.
    struct Found: Sendable {
        let place: CachePlace
        /// The responses whose selecting fields match.
        var matching: [StoredResponse] = []
        /// The newest of them.
        var response: StoredResponse?
        var use = CachePolicy.Use.ignore
        /// Why the request is sent to the server.
        var forward = CacheStatus.Forward.uriMiss
    }
}

extension URLRequest {
    /// What decides about the value that Foundation sends if a request has none: settings of the user, and updates.
    static func systemValue(of name: String) -> String {
        switch name {
        case "accept-language": Locale.preferredLanguages.joined(separator: ",")
        case "user-agent":
            ProcessInfo.processInfo.operatingSystemVersionString
                + " \(Bundle.main.infoDictionary?["CFBundleVersion"] ?? "")"
        default: ""
        }
    }
}
