extension URLRequest {
    /// A file in a multipart form, or any other part made of bytes.
    public struct File: Sendable, Hashable {
        /// The name of the form's field.
        public var key: String
        /// The name of the file; `nil` for a part without one.
        public var name: String?
        /// The content.
        public var data: Data
        /// The media type of the content.
        public var mimeType: MediaType

        /// A file for the field `key`, by default without a file name.
        public init(key: String, name: String? = nil, data: Data, mimeType: MediaType = "application/octet-stream") {
            self.key = key
            self.name = name
            self.data = data
            self.mimeType = mimeType
        }
    }
}
