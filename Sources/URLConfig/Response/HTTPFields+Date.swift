extension HTTPFields {
    /// A field that is a date, such as `Last-Modified` (RFC 9110 §5.6.7).
    ///
    /// ```swift
    /// let date = response.headerFields[date: .lastModified]
    /// let request = URLRequest.with(.api) { $0.headers[date: .ifModifiedSince] = date }
    /// ```
    ///
    /// Reads the three formats of HTTP, whatever their order and separators; `nil` if a part is missing or invalid, or
    /// the time zone is not GMT. Writes whole seconds, as `Sun, 06 Nov 1994 08:49:37 GMT`. `nil` removes the field, as
    /// does a date before the year 1 or after 9999.
    ///
    /// - Parameter name: The name of the field.
    public subscript(date name: HTTPField.Name) -> Date? {
        get { self[name].flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}
