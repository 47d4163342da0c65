extension URLRequest {
    /// A file of a multipart form, held in memory.
    public struct File: Sendable, Hashable {
        /// The name of the form's field.
        public var name: String
        /// The name that the server is told.
        public var fileName: String
        /// The media type of the file.
        public var contentType: MediaType
        /// The bytes of the file.
        public var data: Data

        /// A file of a form.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - fileName: The name that the server is told.
        ///   - contentType: The media type of the file.
        ///   - data: The bytes of the file.
        public init(name: String, fileName: String, contentType: MediaType = .octetStream, data: Data) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.data = data
        }
    }

    /// Makes a multipart form the body of a request that was made by hand.
    ///
    /// `Content-Type` is replaced, because only the form's own names the boundary. The method stays: a `GET` cannot carry
    /// a body.
    ///
    /// - Parameters:
    ///   - parameters: Fields, sent in the order of their names.
    ///   - files: Files, sent after the fields.
    public mutating func setMultipartFormData(parameters: [String: String] = [:], files: [File] = []) {
        var form = MultipartForm()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        for file in files { form.append(file) }
        setValue(form.contentType.description, forHTTPHeaderField: "Content-Type")
        httpBody = form.data
    }

    /// Makes items the body of a request that was made by hand, as `application/x-www-form-urlencoded` (WHATWG URL).
    ///
    /// `Content-Type` is set if there is none. The method stays: a `GET` cannot carry a body.
    ///
    /// - Parameter items: The items, in order. With a model that does not fit, the request becomes one that cannot be sent.
    public mutating func setXWWWFormUrlencoded(_ items: Query) {
        if let invalidReason = items.invalidReason {
            self = URLRequest(refused: .refused(.invalidBody, "body: form \(invalidReason)"), method: httpMethod ?? "GET")
            return
        }
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(MediaType.form.description, forHTTPHeaderField: "Content-Type")
        }
        httpBody = Data(items.formEncoded.utf8)
    }
}
