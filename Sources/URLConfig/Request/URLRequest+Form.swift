extension URLRequest {
    /// Sets the body to a multipart form and sets `Content-Type`; the method does not change.
    ///
    /// - Parameters:
    ///   - parameters: The text fields; they are sent in the order of their names.
    ///   - files: The files; they are sent after the text fields.
    public mutating func setMultipartFormData(parameters: [String: String] = [:], files: [File] = []) {
        var form = MultipartForm()
        for (name, value) in parameters.sortedByName() { form.append(name, value) }
        for file in files { form.append(file) }
        setValue(form.contentType.description, forHTTPHeaderField: "Content-Type")
        // Only JSON parts can fail, and this form has none.
        httpBody = try? form.data(JSONEncoder())
    }
}
