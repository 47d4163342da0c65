extension URLRequest {
    /// A file, or another part made of bytes, in a multipart form.
    public struct File: Sendable, Hashable {
        /// The name of the form field.
        public var key: String
        /// The file name; `nil` for a part without a file name.
        public var name: String?
        /// The content.
        public var data: Data
        /// The media type of the content.
        public var mimeType: MediaType

        /// Creates a file for the field `key`, by default without a file name.
        public init(key: String, name: String? = nil, data: Data, mimeType: MediaType = "application/octet-stream") {
            self.key = key
            self.name = name
            self.data = data
            self.mimeType = mimeType
        }
    }
}
