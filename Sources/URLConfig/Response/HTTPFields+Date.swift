extension HTTPFields {
    /// A field that is a date, such as `Last-Modified` (RFC 9110 §5.6.7).
    ///
    /// ```swift
    /// let date = response.headerFields[date: .lastModified]
    /// let request = URLRequest.with(.api) { $0.headers[date: .ifModifiedSince] = date }
    /// ```
    ///
    /// Each of HTTP's three formats is read. Whole seconds are written; `nil` and a date outside the years 1 to 9999
    /// remove the field.
    ///
    /// - Parameter name: The name of the field.
    public subscript(date name: HTTPField.Name) -> Date? {
        get { self[name].flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}
