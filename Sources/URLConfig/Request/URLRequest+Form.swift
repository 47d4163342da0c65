extension URLRequest {
    /// Sets the body to a multipart form and `Content-Type` to match; the method does not change.
    ///
    /// - Parameters:
    ///   - parameters: Text fields, sent in the order of their names.
    ///   - files: Files, sent after the text fields.
    public mutating func setMultipartFormData(parameters: [String: String] = [:], files: [File] = []) {
        var form = MultipartForm()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        for file in files { form.append(file) }
        setValue(form.contentType.description, forHTTPHeaderField: "Content-Type")
        // Only JSON parts can fail, and this form has none.
        httpBody = try? form.data(JSONEncoder())
    }
}
