extension URLRequest {
    /// Makes a multipart form the body of a request that was made by hand, and replaces its `Content-Type`.
    ///
    /// The method stays: a `GET` cannot carry a body.
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
}
