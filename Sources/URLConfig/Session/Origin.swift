/// RFC 6454 §4: scheme, host and port.
struct Origin: Hashable, Sendable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    init(_ url: URL?) {
        scheme = url?.scheme?.lowercased()
        host = url?.host()?.lowercased()
        port = url?.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil)
    }
}
