extension URLError {
    /// The same error, the URL that failed named without its secrets: `print` shows it first.
    func redacted(_ redaction: Redaction) -> URLError {
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
