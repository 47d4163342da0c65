extension HTTPFields {
    /// A field that is a date, such as `Last-Modified` (RFC 9110 §5.6.7).
    ///
    /// ```swift
    /// let date = response.headerFields[date: .lastModified]
    /// let request = URLRequest.with(.api) { $0.headers[date: .ifModifiedSince] = date }
    /// ```
    ///
    /// Reads the three formats that there are, and what differs from them in no more than its separators; gives `nil` for
    /// anything else. Writes whole seconds in the format of today, `Sun, 06 Nov 1994 08:49:37 GMT`. `nil` removes the field,
    /// as does a date before the year 1 or after 9999, which it cannot hold.
    ///
    /// - Parameter name: The name of the field.
    public subscript(date name: HTTPField.Name) -> Date? {
        get { self[name].flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}
