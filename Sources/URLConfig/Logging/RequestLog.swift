import Logging

/// What one call of `response(for:)` writes to its logger.
///
/// A message is built only when its level is on.
struct RequestLog {
    let logger: Logger?
    let redaction: Redaction
    /// The most bytes of a body that are shown.
    let bodyLimit: Int
    let fileID: String
    let line: UInt

    func sent(_ request: URLRequest) {
        log(.debug) {
            fields(of: request)
        } message: {
            lines(
                "🛫 " + request.summary(redaction), request.shownBody(redaction, limit: bodyLimit), "📄 \(fileID):\(line)"
            )
        }
    }

    /// The request will be sent again, or another one in its place.
    func again(_ request: URLRequest, _ attempt: Attempt) {
        log(.debug) {
            fields(of: request)
        } message: {
            "🔁 \(request.summary(redaction)): \(attempt.description)"
        }
    }

    func received(_ response: DataResponse) {
        log(.debug) {
            var fields = fields(of: response.request)
            fields["status"] = "\(response.status.code)"
            fields["duration"] = "\(response.duration)"
            fields["bytes"] = "\(response.data.count)"
            return fields
        } message: {
            let summary = "\(response.status.code) \(response.request.summary(redaction))"
            return lines(
                "🛬 \(summary) \(response.duration.shown) \(response.data.count.shownAsBytes)",
                redaction.body(response.data, response.contentType, limit: bodyLimit))
        }
    }

    /// A failure; the end of a cancelled task is none, and is logged as traffic.
    func failed(_ request: URLRequest, _ error: any Error, after duration: Duration) {
        let isCancelled = Task.isCancelled
        let status = (error as? RequestError)?.response?.status.code
        log(isCancelled ? .debug : .error) {
            var fields = fields(of: request)
            fields["duration"] = "\(duration)"
            fields["error"] = "\(redaction.masked(error))"
            if let status { fields["status"] = "\(status)" }
            return fields
        } message: {
            let reason = isCancelled ? "cancelled" : redaction.masked(error)
            let summary = (status.map { "\($0) " } ?? "") + request.summary(redaction)
            return lines("💥 \(summary) \(duration.shown)", reason, "📄 \(fileID):\(line)")
        }
    }

    private func fields(of request: URLRequest) -> Logger.Metadata {
        [
            "method": "\(request.httpMethod ?? "GET")",
            "url": "\(request.refusal == nil ? redaction.url(request.url?.absoluteString ?? "") : "")",
            "source": "\(fileID):\(line)",
        ]
    }

    private func lines(_ lines: String...) -> Logger.Message {
        "\(lines.filter { !$0.isEmpty }.joined(separator: "\n"))"
    }

    private func log(_ level: Logger.Level, metadata: () -> Logger.Metadata, message: () -> Logger.Message) {
        guard let logger, logger.logLevel <= level else { return }
        logger.log(level: level, message(), metadata: metadata(), file: fileID, function: "response(for:)", line: line)
    }
}

extension Duration {
    /// Such as `83 ms` or `1.25 s`.
    var shown: String {
        let milliseconds = max(0, self / .milliseconds(1))
        return milliseconds < 1000
            ? "\(Int(milliseconds.rounded())) ms" : "\((milliseconds / 10).rounded() / 100) s"
    }
}

extension Int {
    /// Such as `512 B` or `1.2 kB`, a kilobyte being 1000 bytes.
    var shownAsBytes: String {
        var (value, unit) = (Double(self), "B")
        for larger in ["kB", "MB", "GB"] where value >= 999.5 { (value, unit) = (value / 1000, larger) }
        return unit == "B" ? "\(self) B" : "\((value * 10).rounded() / 10) \(unit)"
    }
}
