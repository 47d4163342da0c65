/// Keeps the responses of an ``HTTPCache``.
///
/// The library has ``HTTPCache/memory(megabytes:)`` and ``HTTPCache/disk(megabytes:in:)``. An app can write its own,
/// for example one that encrypts. A store decides nothing about HTTP: it keeps heads and bodies as they are given to
/// it, and limits its size. A response that it cannot read is left out. If it throws during a call, the response comes
/// from the server, and is not stored. If it hangs, the call waits until its ``Foundation/URLSession/Config/deadline``.
public protocol CacheStore: Sendable {
    /// Returns at least 16 random bytes, which are the key of the digests in a ``CacheKey``.
    ///
    /// Make the bytes once, and keep them as long as the responses. With other bytes, no response is found again.
    func salt() async throws -> Data

    /// The complete responses under a key, at most one for each ``StoredResponse/Head/variant``, in any order.
    func responses(for key: CacheKey) async throws -> [StoredResponse]

    /// Begins to store a response.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - key: The key of the response.
    /// - Returns: The writer of the body, which is used by one task at a time, or `nil` if the response should not be
    ///   stored. The response must not be found before ``CacheWriter/finish()``.
    func writer(for head: StoredResponse.Head, key: CacheKey) async throws -> (any CacheWriter)?

    /// Replaces the head of a stored response; does nothing if the response has been removed or replaced meanwhile.
    ///
    /// - Parameters:
    ///   - response: A response that ``responses(for:)`` has returned.
    ///   - head: The new head, with the same variant.
    ///   - key: The key of the response.
    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) async throws

    /// Removes responses.
    ///
    /// Responses that are just being written belong to them: they must not be found after ``CacheWriter/finish()``.
    ///
    /// - Parameter responses: Which responses; `nil` for all.
    func remove(_ responses: CacheSelection?) async throws
}

/// Writes the body of a response into a store; if it is released before ``finish()``, nothing is stored.
public protocol CacheWriter: Sendable {
    /// Adds a piece of the body.
    ///
    /// If it throws, nothing more is written, and the response is not stored.
    func write(_ piece: Data) async throws

    /// The body is complete: from now on the response is found, in place of an earlier one of the same variant.
    ///
    /// If it throws, the response is not stored.
    func finish() async throws
}

/// Where a response is stored: what was requested, and by whom.
///
/// Both are keyed digests of 16 hexadecimal digits, which contain neither the URL nor a secret.
public struct CacheKey: Hashable, Sendable {
    /// The digest of the URL.
    public let resource: String
    /// The digest of who asks: another one never receives the response.
    public let requester: String

    /// A key, for the test of a store.
    public init(resource: String, requester: String) { (self.resource, self.requester) = (resource, requester) }
}

/// Which responses are removed from a store.
public enum CacheSelection: Hashable, Sendable {
    /// All responses for a URL, for every requester; the value is a ``CacheKey/resource``.
    case resource(String)
    /// All responses for a requester; the value is a ``CacheKey/requester``.
    case requester(String)
}

/// A response in a store.
public struct StoredResponse: Sendable {
    /// The head, as it was when the response was stored, or as a validation has changed it.
    public let head: Head
    /// Identifies the stored bytes for the store itself.
    public let id: String
    /// Opens the body, at most once.
    public let body: @Sendable () async throws -> ResponseBody

    /// A response, for a store.
    ///
    /// - Parameters:
    ///   - head: The head that the store was given.
    ///   - id: Identifies the stored bytes for the store itself. Each body needs a new one. By default empty.
    ///   - body: Opens the body. If it throws, the response is requested from the server. If reading the body throws
    ///     later, the call fails with that error.
    public init(head: Head, id: String = "", body: @escaping @Sendable () async throws -> ResponseBody) {
        (self.head, self.id, self.body) = (head, id, body)
    }
}
