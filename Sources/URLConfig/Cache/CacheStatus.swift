/// What a cache did for a response (RFC 9211).
///
/// `print` shows the members of that standard, such as `hit; age=12; ttl=48` or `fwd=stale; fwd-status=304`.
public struct CacheStatus: Hashable, Sendable, CustomStringConvertible {
    /// Why a request was sent to the server (RFC 9211 §2.2).
    public enum Forward: String, Sendable {
        /// The cache was not to be used.
        case bypass
        /// The method is not one whose responses are stored.
        case method
        /// Nothing was stored for the URL.
        case uriMiss = "uri-miss"
        /// Only responses to other values of the fields in `Vary` were stored.
        case varyMiss = "vary-miss"
        /// The cache had nothing that could be used.
        case miss
        /// The request did not want the stored response, although it was fresh.
        case request
        /// The stored response was stale.
        case stale
    }

    /// Whether the response comes from the cache, without the server or in place of its failure.
    public internal(set) var isHit = false
    /// Why the request was sent to the server; `nil` if it was not.
    public internal(set) var forward: Forward?
    /// The status of the server's response, if it is not the status of this response: 304 if a stored one is valid.
    public internal(set) var forwardStatus: HTTPResponse.Status?
    /// Whether the response was stored; for a stream, whether it will be when it is read to its end.
    public internal(set) var isStored = false
    /// Whether the response was received once for several calls (``Foundation/URLSession/Config/coalesces``).
    public internal(set) var isCollapsed = false
    /// The age of a stored response.
    public internal(set) var age: Duration?
    /// How long a stored response is still fresh; negative if it is stale.
    public internal(set) var timeToLive: Duration?
    /// More about the reason, such as `no-store`; it is text for people.
    public internal(set) var detail: String?

    /// Whether the cache has made the response, because nothing is stored and nothing may be sent.
    var isOfMiss: Bool { !isHit && forward == nil }
    /// Whether the content is a stored one.
    var isFromCache: Bool { isHit || forwardStatus == .notModified }

    /// The members as RFC 9211 writes them.
    public var description: String {
        var parts: [String] = isHit ? ["hit"] : []
        if let forward { parts.append("fwd=" + forward.rawValue) }
        if let forwardStatus { parts.append("fwd-status=\(forwardStatus.code)") }
        if isStored { parts.append("stored") }
        if isCollapsed { parts.append("collapsed") }
        if let age { parts.append("age=\(age.components.seconds)") }
        if let timeToLive { parts.append("ttl=\(timeToLive.components.seconds)") }
        if let detail { parts.append("detail=\"\(detail)\"") }
        return parts.joined(separator: "; ")
    }
}

extension Transport.Response {
    mutating func add(_ status: CacheStatus) { cacheStatus = { status } }
}
