extension HTTPFields {
    /// Sets a field that is a list, such as `Accept-Language`, from its members (RFC 9110 §5.6.1); `nil` removes it.
    ///
    /// ```swift
    /// $0.headers[.acceptLanguage] = ["en-US", "zh-Hans-CN"]
    /// ```
    ///
    /// Disfavoured, so that `headers[.acceptLanguage]` reads as the combined text unless an array is asked for.
    @_disfavoredOverload
    public subscript(name: HTTPField.Name) -> [String]? {
        get { contains(name) ? self[values: name] : nil }
        set { self[values: name] = newValue ?? [] }
    }
}
