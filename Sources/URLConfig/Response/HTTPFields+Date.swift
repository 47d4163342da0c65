extension HTTPFields {
    /// The date in a field, such as `Last-Modified` (RFC 9110 §5.6.7).
    ///
    /// ```swift
    /// let date = response.headerFields[date: .lastModified]
    /// let request = URLRequest.with(.api) { $0.headers[date: .ifModifiedSince] = date }
    /// ```
    ///
    /// All three formats of HTTP are read. Dates are written in whole seconds. Setting `nil` or a date outside the
    /// years 1 to 9999 removes the field.
    public subscript(date name: HTTPField.Name) -> Date? {
        get { self[name].flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}
