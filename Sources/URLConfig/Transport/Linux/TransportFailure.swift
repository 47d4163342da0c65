#if canImport(FoundationNetworking)

extension Error {
    /// Parts of libcurl's texts about a body that is not encoded as its fields say.
    ///
    /// The delegate never fails to write. So libcurl fails to do so only if it has decoded all, and more bytes arrive.
    private static var decoding: [String] {
        ["content unencoding", "content encoding type", "bad HTTP Content", "Failed writing received data"]
    }

    /// The same failure with the code that Apple platforms have for it.
    ///
    /// Foundation on Linux has one code for most errors of libcurl, and wrong codes for some. Only libcurl's text
    /// distinguishes them. An error of a custom `URLProtocol` has no such text and is not changed.
    ///
    /// - Parameter hasHead: Whether the head of a response had arrived.
    func transportFailure(hasHead: Bool) -> any Error {
        guard let error = self as? URLError,
            let words = (error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        else { return self }
        let code: URLError.Code
        switch error.code {
        case .badServerResponse where words.hasPrefix("Empty reply"): code = .networkConnectionLost
        // The response is not HTTP, or has an unknown version of HTTP. The scheme of the URL was supported.
        case .unsupportedURL: code = .cannotParseResponse
        case .unknown where words.hasPrefix("Failed to connect"): code = .cannotConnectToHost
        case .unknown where words.hasPrefix("Send failure"): code = .networkConnectionLost
        case .unknown where words.contains("certificate"): code = .serverCertificateUntrusted
        case .unknown where words.contains("SSL"): code = .secureConnectionFailed
        case .unknown where Self.decoding.contains(where: words.contains): code = .cannotDecodeContentData
        case .unknown: code = hasHead ? .networkConnectionLost : .cannotParseResponse
        default: return self
        }
        return URLError(code, userInfo: error.errorUserInfo)
    }
}

#endif
