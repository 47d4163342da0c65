#if AsyncHTTPClient
import AsyncHTTPClient
extension HTTPClient.Configuration.Proxy {
    init?(for url: URL, _ configuration: [AnyHashable: Any]) throws { return nil }
}
#endif
