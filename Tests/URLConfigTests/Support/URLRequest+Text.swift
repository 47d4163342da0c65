import URLConfig

/// A status, even where FlyingFox's `HTTPResponse` is imported.
typealias Status = HTTPResponse.Status

extension URLRequest {
    /// The URL as text; empty without one.
    var urlText: String { url?.absoluteString ?? "" }

    /// The body as text; `nil` without one.
    var bodyText: String? { httpBody.map { String(decoding: $0, as: UTF8.self) } }

    /// The value of a header field.
    func field(_ name: String) -> String? { value(forHTTPHeaderField: name) }
}

extension URLRequest.Config {
    /// The reason why this configuration gives no request; `nil` if it gives one.
    var refusal: RequestError? {
        do {
            _ = try request()
            return nil
        } catch {
            return error
        }
    }
}
