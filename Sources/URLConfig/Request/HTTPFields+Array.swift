extension HTTPFields {
    /// The members of a field that is a list, such as `Accept-Language` (RFC 9110 §5.6.1); `nil` removes it.
    ///
    /// ```swift
    /// $0.headers[.acceptLanguage] = ["en-US", "zh-Hans-CN"]
    /// ```
    ///
    /// Where the type does not say which, `headers[.acceptLanguage]` is the combined text.
    @_disfavoredOverload
    public subscript(name: HTTPField.Name) -> [String]? {
        get { contains(name) ? self[values: name] : nil }
        set { self[values: name] = newValue ?? [] }
    }
}
