extension Error {
    /// The same error, which does not show what is hidden.
    func hiding(_ redaction: Redaction) -> any Error {
        switch self {
        case var error as RequestError:
            error.redaction = error.redaction ?? redaction
            return error
        case let error as URLError: return error.redacted(redaction)
        default: return self
        }
    }
}

extension URLError {
    /// The same error, the URL that failed named without its secrets: `print` shows it first.
    fileprivate func redacted(_ redaction: Redaction) -> URLError {
        let userInfo = errorUserInfo.mapValues { value in
            switch value {
            case let url as URL: URL(string: redaction.url(url.absoluteString)) ?? url
            case let text as String: redaction.url(text)
            default: value
            }
        }
        return URLError(code, userInfo: userInfo)
    }
}
