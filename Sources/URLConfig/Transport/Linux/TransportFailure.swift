#if canImport(FoundationNetworking)

extension Error {
    /// The same failure, under the code that Apple platforms have for it.
    ///
    /// Foundation on Linux has one code for most of what libcurl reports, and wrong ones for some; only libcurl's words tell
    /// them apart. What a custom `URLProtocol` fails with has no such words, and stays as it is.
    ///
    /// - Parameter hasHead: Whether the head of an answer had arrived: what fails then is its body.
    func transportFailure(hasHead: Bool) -> any Error {
        guard let error = self as? URLError,
            let words = (error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription,
            let code = URLError.Code(error.code, words, hasHead: hasHead)
        else { return self }
        return URLError(code, userInfo: error.errorUserInfo)
    }
}

extension URLError.Code {
    /// What a failure is; `nil` if its code says so already.
    fileprivate init?(_ code: Self, _ words: String, hasHead: Bool) {
        switch code {
        case .badServerResponse where words.hasPrefix("Empty reply"): self = .networkConnectionLost
        // No HTTP, or none that libcurl knows: the scheme of the URL was right.
        case .unsupportedURL: self = .cannotParseResponse
        case .unknown where words.hasPrefix("Failed to connect"): self = .cannotConnectToHost
        case .unknown where words.hasPrefix("Send failure"): self = .networkConnectionLost
        case .unknown where words.contains("certificate"): self = .serverCertificateUntrusted
        case .unknown where words.contains("SSL"): self = .secureConnectionFailed
        case .unknown where words.contains("content unencoding"): self = .cannotDecodeContentData
        case .unknown: self = hasHead ? .networkConnectionLost : .cannotParseResponse
        default: return nil
        }
    }
}

#endif
