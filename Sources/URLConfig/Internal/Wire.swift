/// The one seam between the send loop and the network: a request goes in, the whole answer comes out.
struct Wire {
    let session: URLSession
    let delegate: (any URLSessionTaskDelegate)?

    /// The answer to one sending of a request.
    ///
    /// - Throws: `URLError` for transport failures, `CancellationError` once the task is cancelled, ``RequestError`` for an
    ///   answer that is no HTTP response.
    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request.forThisPlatform, delegate: delegate)
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let response = response as? HTTPURLResponse, 0...999 ~= response.statusCode else {
            throw RequestError(
                .invalidResponse, stage: .executing, reason: "the answer is no HTTP response", request: request)
        }
        return (data, response)
    }
}

extension URLRequest {
    /// On Linux a time limit is cut to whole seconds, so that one of half a second would be over at once, and one without
    /// sense, such as infinity, ends the process: round up, and take the usual limit instead.
    fileprivate var forThisPlatform: URLRequest {
        #if canImport(FoundationNetworking)
        let limit = Duration(timeoutInterval: timeoutInterval)?.timeoutInterval?.rounded(.up) ?? 60
        guard timeoutInterval != limit else { return self }
        var request = self
        request.timeoutInterval = limit
        return request
        #else
        return self
        #endif
    }
}

extension HTTPFields {
    /// The fields of a response.
    ///
    /// A name that is none, and what exceeds the number of fields that this type can hold, is left out rather than
    /// trapped on.
    init(_ response: HTTPURLResponse) {
        self.init()
        for case let (name as String, value as String) in response.allHeaderFields.prefix(1 << 15) {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
