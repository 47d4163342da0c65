extension DataResponse {
    /// This response, if its status is 2xx; throws as ``validateStatusCode(in:)``.
    @discardableResult
    public func validated() throws -> Self {
        try validateStatusCode(in: 200..<300)
    }

    /// This response, if its status code is one of those given.
    ///
    /// - Parameter codes: Status codes, such as `200..<300` or `[200, 404]`; the first 4,096 count.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableStatus`` and the whole response.
    @discardableResult
    public func validateStatusCode(in codes: some Sequence<Int>) throws -> Self {
        if codes.statusCodes.contains(status.code) { return self }
        throw RequestError(unacceptable: self)
    }

    /// This response, if its content type is of the kind given.
    ///
    /// - Parameter type: The kind, as for ``hasContentType(_:)``.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableContentType`` and the whole response.
    @discardableResult
    public func validateContentType(_ type: MediaType) throws -> Self {
        if hasContentType(type) { return self }
        let found = contentType?.description ?? headerFields[.contentType] ?? "none"
        throw RequestError(
            .unacceptableContentType,
            reason: "content type is \(found.shortened(to: 80)), expected \(type)", response: self)
    }

    /// Whether the content type is of a kind.
    ///
    /// - Parameter type: The kind: `.json`, `"image/*"`, or with required parameters, `"text/html; charset=utf-8"`.
    public func hasContentType(_ type: MediaType) -> Bool {
        contentType.map(type.matches) ?? false
    }
}

extension Sequence<Int> {
    /// As many as there can be: `400...` has no end.
    var statusCodes: PrefixSequence<Self> { prefix(1 << 12) }
}
