/// Sees each request that is sent and what becomes of it, for traces and metrics.
protocol RequestObserver: Sendable {
    /// A request is about to be sent.
    ///
    /// - Parameters:
    ///   - request: The request, whose header fields may be changed.
    ///   - resends: How many requests the call has sent before.
    ///   - route: Returns the template of the path, if one is known.
    /// - Returns: Called once, on any thread, soon after the body has ended, or the head of a stream has arrived; `nil`
    ///   if nobody wants to know it.
    func begin(
        _ request: inout Transport.Request, resends: Int, route: () -> String?
    ) -> (@Sendable (RequestOutcome) -> Void)?
}

/// What has become of a request.
struct RequestOutcome: Sendable {
    var status: HTTPResponse.Status?
    /// The protocol, such as `h2`; `nil` if the transport does not tell it.
    var protocolName: String?
    /// Why there is no response, or not its whole body; `CancellationError` if nobody wants it any more.
    var error: (any Error)?
}

extension Error {
    /// This error, or the one of the call that has ended a shared transfer.
    fileprivate func unlessAbandoned(by abandonment: Locked<(any Error)?>?) -> any Error {
        self is CancellationError ? abandonment?.withLock(\.self) ?? self : self
    }
}

extension Call {
    /// Sends a request once, which the observer sees.
    func exchanged(_ sending: Transport.Request) async throws -> Transport.Response {
        guard let observer = config.observer else { return try await transport.attempt(sending) }
        return try await exchanged(sending, observer)
    }

    private func exchanged(
        _ sending: Transport.Request, _ observer: any RequestObserver
    ) async throws -> Transport.Response {
        var sending = sending
        let resends = sends?.withLock { count in
            defer { count += 1 }
            return count
        }
        let request = sending.urlRequest
        let end = observer.begin(&sending, resends: resends ?? 0) {
            config.routeTable.route(of: request, after: self.history.request)
        }
        guard let end else { return try await transport.attempt(sending) }
        let abandonment = SharedTransfer.abandonment
        let response: Transport.Response
        do {
            response = try await transport.attempt(sending)
        } catch {
            let cause: any Error = Task.isCancelled ? CancellationError() : error
            end(RequestOutcome(error: cause.unlessAbandoned(by: abandonment)))
            throw error
        }
        let (status, connection) = (response.status, response.connection)
        guard sending.buffersBody else {
            end(RequestOutcome(status: status, protocolName: connection()?.protocolName))
            return response
        }
        let isOver = response.body.received.isOver
        // Without the response, which would keep its body alive.
        response.body.received.onEnd { result in
            var outcome = RequestOutcome(status: status, protocolName: connection()?.protocolName)
            if case .failure(let error) = result { outcome.error = error.unlessAbandoned(by: abandonment) }
            // An alarm or an event loop ends a body that still arrives, and the observer may block.
            if isOver { end(outcome) } else { DispatchQueue.global().async { [outcome] in end(outcome) } }
        }
        return response
    }
}
