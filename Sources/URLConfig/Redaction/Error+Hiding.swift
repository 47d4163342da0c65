extension Error {
    /// The same error; its secrets are hidden where it is shown.
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
    /// The masked summary of an error; a ``RequestError`` masks the values under hidden names itself.
    func masked(_ error: any Error) -> String {
        let summary = error.summary(self)
        return (error is RequestError ? maskedByValue(summary) : masked(summary)).escapingControls
    }

    /// `print` shows the whole user info, including the underlying errors.
    fileprivate func masked(_ error: URLError) -> URLError {
        URLError(error.code, userInfo: masked(error.errorUserInfo))
    }

    private func masked(_ userInfo: [String: Any]) -> [String: Any] {
        guard isActive else { return userInfo }
        let pairs = userInfo.map { key, value in (key, hides(key) ? Self.mask : masked(key, value)) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func masked(_ key: String, _ value: Any) -> Any {
        switch value {
        // URLError.failureURLPeerTrust reads the certificates. Attempts hide their secrets themselves.
        case _ where key == "NSURLErrorFailingURLPeerTrustErrorKey": value
        case is [Attempt], is NSNumber, is Bool, is any BinaryInteger, is any BinaryFloatingPoint, is Date: value
        case let url as URL: URL(string: self.url(url.absoluteString)) ?? url
        case let error as URLError: masked(error)
        case let values as [Any]: values.map { masked(key, $0) }
        case let values as [String: Any]: masked(values)
        case let request as URLRequest: request.summary(self)
        // The type is compared, because on Apple platforms every error can be cast to NSError.
        case let error as any Error where !(type(of: error) is NSError.Type) && masked("\(error)") == "\(error)": error
        case let error as NSError: NSError(domain: error.domain, code: error.code, userInfo: masked(error.userInfo))
        default: masked("\(value)")
        }
    }
}
