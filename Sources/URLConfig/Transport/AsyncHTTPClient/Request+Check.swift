#if AsyncHTTPClient

extension Transport.Request {
    /// Foundation's own classes.
    ///
    /// On Linux, the shared session has one more than a default configuration.
    private static let standardProtocolClasses = Set(
        [URLSessionConfiguration.default, URLSession.shared.configuration].flatMap { $0.protocolClasses ?? [] }
            .map { ObjectIdentifier($0) })

    /// Says what AsyncHTTPClient cannot take over from the session and the call.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a session whose requests must not
    ///   go to the network.
    func checkIsForAsyncHTTPClient(_ configuration: URLSessionConfiguration) throws(RequestError) {
        let standard = Self.standardProtocolClasses
        if let custom = configuration.protocolClasses?.first(where: { !standard.contains(ObjectIdentifier($0)) }) {
            throw .refused(
                .invalidRequest,
                "the session has the URLProtocol class \(custom), which asyncHTTPClient does not use; set another "
                    + "transport, such as .urlSession")
        }
        #if !canImport(FoundationNetworking)
        guard configuration.identifier == nil else {
            throw .refused(.invalidRequest, "a background session is not supported; use another session")
        }
        #endif
        if conditions.taskDelegate != nil { warn("a task delegate") }
        if session.delegate != nil { warn("the session's delegate") }
        if configuration.urlCredentialStorage?.allCredentials.isEmpty == false { warn("the stored credentials") }
    }

    private func warn(_ what: String) {
        conditions.logger?.warning("asyncHTTPClient does not use \(what)")
    }
}

#endif
