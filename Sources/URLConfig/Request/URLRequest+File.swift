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

        /// A file of a form; the parameters are the properties.
        public init(name: String, fileName: String, contentType: MediaType = .octetStream, data: Data) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.data = data
        }
    }
}
