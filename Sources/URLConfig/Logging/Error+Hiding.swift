extension Error {
    /// The same error, which does not show what is hidden.
    func hiding(_ redaction: Redaction) -> any Error {
        switch self {
        case var error as RequestError:
            error.redaction = error.redaction ?? redaction
            if error.response?.redaction == nil { error.response?.redaction = redaction }
            return error
        case let error as URLError: return redaction.masked(error)
        default: return self
        }
    }
}

extension Redaction {
    /// What an error says: a ``RequestError`` knows itself which names are hidden, one of the app's own may not.
    func masked(_ error: any Error) -> String {
        let summary = error.summary(self)
        return (error is RequestError ? maskedByValue(summary) : masked(summary)).escapingControls
    }

    /// The same error without secrets: `print` shows all that it contains, the errors that caused it included.
    fileprivate func masked(_ error: URLError) -> URLError {
        URLError(error.code, userInfo: masked(error.errorUserInfo))
    }

    private func masked(_ userInfo: [String: Any]) -> [String: Any] {
        guard isActive else { return userInfo }
        let pairs = userInfo.map { key, value in
            // URLError.failureURLPeerTrust reads this one; it is a chain of certificates.
            let isTrust = key == "NSURLErrorFailingURLPeerTrustErrorKey"
            return (key, hides(key) ? Self.mask : isTrust ? value : masked(any: value))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func masked(any value: Any) -> Any {
        switch value {
        // Attempts hide by themselves.
        case is [Attempt], is NSNumber, is Bool, is any BinaryInteger, is any BinaryFloatingPoint, is Date: value
        case let url as URL: URL(string: self.url(url.absoluteString)) ?? url
        case let text as String: masked(text)
        case let text as Substring: masked(String(text))
        case let error as URLError: masked(error)
        case let values as [Any]: values.map(masked(any:))
        case let values as [String: Any]: masked(values)
        case let request as URLRequest: request.summary(self)
        case let error as NSError: NSError(domain: error.domain, code: error.code, userInfo: masked(error.userInfo))
        default: masked("\(value)")
        }
    }
}
