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
        log(.debug, request) { summary, _ in
            ["🛫 " + summary, request.shownBody(redaction, limit: bodyLimit), "📄 \(fileID):\(line)"]
        }
    }

    /// The request will be sent again, or another one in its place.
    func again(_ request: URLRequest, _ attempt: Attempt) {
        log(.debug, request) { summary, _ in ["🔁 \(summary): \(attempt.description)"] }
    }

    func received(_ response: DataResponse) {
        log(.debug, response.request) { summary, fields in
            fields["status"] = "\(response.status.code)"
            fields["duration"] = "\(response.duration)"
            fields["bytes"] = "\(response.data.count)"
            let size = response.data.count.shownAsBytes
            return [
                "🛬 \(response.status.code) \(summary) \(response.duration.shown) \(size)",
                redaction.body(response.data, response.contentType, limit: bodyLimit),
            ]
        }
    }

    /// A failure; the end of a cancelled task is none, and is logged as traffic.
    func failed(_ request: URLRequest, _ error: any Error, after duration: Duration) {
        let isCancelled = Task.isCancelled
        log(isCancelled ? .debug : .error, request) { summary, fields in
            let reason = redaction.masked(error)
            let status = (error as? RequestError)?.response?.status.code
            fields["duration"] = "\(duration)"
            fields["error"] = "\(reason)"
            fields["status"] = status.map { "\($0)" }
            let start = "💥 " + (status.map { "\($0) " } ?? "")
            return ["\(start)\(summary) \(duration.shown)", isCancelled ? "cancelled" : reason, "📄 \(fileID):\(line)"]
        }
    }

    /// - Parameter lines: The message, of a summary of the request; it may add to the metadata.
    private func log(
        _ level: Logger.Level, _ request: URLRequest, lines: (String, inout Logger.Metadata) -> [String]
    ) {
        guard let logger, logger.logLevel <= level else { return }
        let method = request.httpMethod ?? "GET"
        let url = request.shownURL(redaction)
        var metadata: Logger.Metadata = ["method": "\(method)", "url": "\(url ?? "")", "source": "\(fileID):\(line)"]
        let message = lines("\(method) \(url ?? URLRequest.unsendable)", &metadata).filter { !$0.isEmpty }
        logger.log(
            level: level, "\(message.joined(separator: "\n"))", metadata: metadata, file: fileID,
            function: "response(for:)", line: line)
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
