extension StoredResponse {
    /// What a cache knows of a response without its body.
    ///
    /// A store encodes it as it is. It contains the header fields that the server sent.
    public struct Head: Codable, Hashable, Sendable {
        /// Which of the representations of one resource it is (RFC 9111 §4.1): 16 hexadecimal digits.
        public internal(set) var variant = ""
        /// Another digest of URL and requester than the key's, so that no collision gives a foreign response.
        var check = Digest("")
        var status = 200
        var fields = HTTPFields()
        /// The names in `Vary`, and the digests of the values that the request had.
        var selecting: [String: Digest] = [:]
        /// When the request was sent and when the response came, in seconds since 1970.
        var requested = 0.0
        var received = 0.0
        /// What the fields say of its freshness, which takes long to read: when the server made the response, and for
        /// how many seconds it is fresh.
        var date = 0.0
        var lifetime = 0.0
    }
}
