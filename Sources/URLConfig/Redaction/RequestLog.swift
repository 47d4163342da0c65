import Logging

/// Logs one call of `response(for:)`: traffic at the level debug, a failure at error.
///
/// The message does not repeat the metadata. At the level trace, it contains the header fields. It is built only if its
/// level is on.
struct RequestLog: Sendable {
    let logger: Logger?
    let redaction: Redaction
    /// The most bytes of a body that are shown.
    let bodyLimit: Int
    let fileID: String
    let line: UInt

    func sent(_ request: URLRequest) {
        log(.debug, request) { _ in
            let fields = (request.allHTTPHeaderFields ?? [:]).sortedByName()
            return content("🛫 request", redaction.masked(fields), request.shownBody(redaction, limit: bodyLimit))
        }
    }

    /// Logs that the request, or another one in its place, is sent again, or that a retry was refused.
    func again(_ request: URLRequest, _ attempt: Attempt) {
        log(.debug, request) { metadata in
            metadata["status"] = attempt.status.map { "\($0.code)" }
            metadata["error"] = attempt.error.map { "\(redaction.masked($0).onOneLine)" }
            metadata["duration"] = seconds(attempt.duration)
            return "🔁 " + (attempt.reason ?? "")
        }
    }

    /// - Parameter isStream: Whether the body has not been read yet.
    func received(_ response: DataResponse, isStream: Bool = false) {
        log(.debug, response.request) { metadata in
            metadata["status"] = "\(response.status.code)"
            metadata["duration"] = seconds(response.duration)
            metadata["cache"] = response.cacheStatus.map { "\($0)" }
            if !isStream { metadata["bytes"] = "\(response.data.count)" }
            let body = redaction.body(response.data, response.contentType, limit: bodyLimit)
            return content("🛬 response", redaction.masked(response.headerFields), body)
        }
    }

    /// Logs that the body of a stream was read.
    func ended(_ response: DataResponse, bytes: Int64, after duration: Duration) {
        log(.debug, response.request) { metadata in
            metadata["duration"] = seconds(duration)
            metadata["bytes"] = "\(bytes)"
            return "🏁 end of the stream"
        }
    }

    /// Logs a failure; the end of a cancelled task is logged as traffic.
    ///
    /// - Parameter status: The status of the last attempt, which the error may not know.
    func failed(
        _ request: URLRequest, _ error: any Error, status: HTTPResponse.Status? = nil, after duration: Duration
    ) {
        let isCancelled = Task.isCancelled
        log(isCancelled ? .debug : .error, request) { metadata in
            metadata["status"] = ((error as? RequestError)?.response?.status ?? status).map { "\($0.code)" }
            let shown = bodyLimit > 0 ? error : error.withoutContent
            metadata["error"] = isCancelled ? nil : "\(shown.outcome(redaction).onOneLine)"
            metadata["duration"] = seconds(duration)
            return isCancelled ? "💥 cancelled" : "💥 failed"
        }
    }

    private func content(_ title: String, _ fields: @autoclosure () -> [String], _ body: String) -> String {
        let head = logger?.logLevel == .trace ? fields().prefix(100).map { $0.shortened(to: 1000) } : []
        return ([title] + head + (body.isEmpty ? [] : head.isEmpty ? [body] : ["", body])).joined(separator: "\n")
    }

    private func seconds(_ duration: Duration) -> Logger.MetadataValue {
        "\((duration / .milliseconds(1)).rounded() / 1000)"
    }

    private func log(_ level: Logger.Level, _ request: URLRequest, message: (inout Logger.Metadata) -> String) {
        guard let logger, logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "method": "\((request.httpMethod ?? "GET").onOneLine)",
            "url": "\(request.shownURL(redaction) ?? URLRequest.unsendable)", "source": "\(fileID):\(line)",
        ]
        let message = message(&metadata)
        logger.log(
            level: level, "\(message)", metadata: metadata, file: fileID, function: "response(for:)", line: line)
    }
}
