/// RFC 6454 §4: scheme, host and port.
struct Origin: Hashable, Sendable {
    let scheme: String?
    let host: String?
    let port: Int

    init(_ url: URL?) {
        scheme = url?.scheme?.lowercased()
        host = url?.host(percentEncoded: false)?.lowercased()
        port = url?.port ?? (scheme == "http" ? 80 : 443)
    }
}
