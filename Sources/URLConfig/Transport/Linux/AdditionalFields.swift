#if canImport(FoundationNetworking)

import Logging

/// The `httpAdditionalHeaders` of a session, which we add ourselves: Foundation on Linux writes what they contain on
/// the wire as it is, and hangs on a length.
struct AdditionalFields: Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Takes the fields over from a configuration, whose session has none after that.
    ///
    /// A field that cannot be sent is logged as an error and ignored.
    init(_ configuration: URLSessionConfiguration) {
        for case let (name as String, value as String) in configuration.httpAdditionalHeaders ?? [:] {
            do throws(RequestError) {
                try URLRequest.checkField(name, value)
                fields.append((name, value))
            } catch {
                URLSession.Config.defaultLogger?.error("httpAdditionalHeaders: \(error.reason); it is ignored")
            }
        }
        configuration.httpAdditionalHeaders = nil
    }

    /// Adds the fields that a request does not have.
    ///
    /// - Parameter redaction: Which fields are credentials that stay behind; `nil` for none.
    func add(to request: inout URLRequest, without redaction: Redaction?) {
        for (name, value) in fields
        where request.value(forHTTPHeaderField: name) == nil && redaction?.isCredential(name) != true {
            request.setValue(value, forHTTPHeaderField: name)
        }
    }
}

#endif
