#if canImport(FoundationNetworking)

extension Error {
    /// The same failure, under the code that Apple platforms have for it.
    ///
    /// Foundation on Linux has one code for most of what libcurl reports, and wrong ones for some; only libcurl's words
    /// tell them apart. What a custom `URLProtocol` fails with has no such words, and stays as it is.
    ///
    /// - Parameter hasHead: Whether the head of a response had arrived: what fails then is its body.
    func transportFailure(hasHead: Bool) -> any Error {
        guard let error = self as? URLError,
            let words = (error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        else { return self }
        let code: URLError.Code
        switch error.code {
        case .badServerResponse where words.hasPrefix("Empty reply"): code = .networkConnectionLost
        // No HTTP, or none that libcurl knows: the scheme of the URL was right.
        case .unsupportedURL: code = .cannotParseResponse
        case .unknown where words.hasPrefix("Failed to connect"): code = .cannotConnectToHost
        case .unknown where words.hasPrefix("Send failure"): code = .networkConnectionLost
        case .unknown where words.contains("certificate"): code = .serverCertificateUntrusted
        case .unknown where words.contains("SSL"): code = .secureConnectionFailed
        case .unknown where words.contains("content unencoding"): code = .cannotDecodeContentData
        case .unknown: code = hasHead ? .networkConnectionLost : .cannotParseResponse
        default: return self
        }
        return URLError(code, userInfo: error.errorUserInfo)
    }
}

#endif
