/// How much of its request's body a call has sent, and how much of its response's body it has received.
///
/// ```swift
/// let progress = Progress(totalUnitCount: -1)
/// let file = try await URLSession.shared.download(for: request, to: target) {
///     $0.progress = { $0.update(progress) }
/// }
/// ```
public struct TransferProgress: Sendable, Hashable {
    /// The bytes of the request's body that were sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The length of the request's body in bytes; `nil` if it is unknown or there is no body.
    public internal(set) var totalBytesToSend: Int64?
    /// The bytes of the response's body that were received, after decompression.
    ///
    /// For a download that continues, they include the bytes of the part.
    public internal(set) var bytesReceived: Int64 = 0
    /// The length of the response's body in bytes; `nil` if it is unknown, as it is for a compressed body.
    public internal(set) var totalBytesToReceive: Int64?
    var isUpload = false

    /// How much is done, from 0 to 1; `nil` if the length is unknown.
    ///
    /// For an upload, and until a response arrives, this is the sent part of the request's body. Otherwise, it is the
    /// received part of the response's body.
    public var fractionCompleted: Double? {
        let (completed, total) = units
        return total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
    }

    /// Copies this progress to a `Progress` of Foundation, for a user interface.
    ///
    /// Its units are the bytes that ``fractionCompleted`` is about. If the length is unknown, the `Progress` is
    /// indeterminate.
    ///
    /// - Parameter progress: The `Progress` that the user interface shows. It may be used from any thread.
    public func update(_ progress: Progress) {
        let (completed, total) = units
        // Observers see each change, and the completed count must never exceed the total.
        if completed < progress.completedUnitCount { progress.completedUnitCount = completed }
        progress.totalUnitCount = total ?? -1
        progress.completedUnitCount = completed
    }

    private var units: (completed: Int64, total: Int64?) {
        let isReceiving = !isUpload && (bytesReceived > 0 || totalBytesToReceive != nil)
        return isReceiving ? (bytesReceived, totalBytesToReceive) : (bytesSent, totalBytesToSend)
    }
}

/// Reports the progress of a call to the caller's closure, one report after the other.
///
/// A report never shows less than the one before it. A repeated attempt is shown when it is further, unless its body is
/// shorter than what was transferred before. While the closure runs, reports are merged, so a slow one does not delay
/// the transfer.
final class ProgressMeter: Sendable {
    private struct State {
        var progress = TransferProgress()
        /// The bytes that this attempt has received.
        var received: Int64 = 0
        /// Whether the transport of this attempt reports what it sends.
        var reportsSent = false
        var isScheduled = false

        mutating func fit() {
            progress.bytesReceived = max(progress.bytesReceived, received)
            ProgressMeter.fit(&progress.bytesReceived, &progress.totalBytesToReceive, received)
        }
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "URLConfig.progress")
    private let report: @Sendable (TransferProgress) -> Void

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) {
        self.report = report
    }

    /// The call is an upload of this length; `nil` if it is unknown.
    func beginUpload(of length: Int64?) {
        change { ($0.progress.isUpload, $0.progress.totalBytesToSend) = (true, length) }
    }

    func begin() { change { ($0.received, $0.reportsSent) = (0, false) } }

    /// - Parameter total: All bytes that this attempt has sent.
    func sent(_ total: Int64, of expected: Int64?) {
        change { state in
            state.reportsSent = true
            state.progress.bytesSent = max(state.progress.bytesSent, total)
            if let expected, expected >= 0 { state.progress.totalBytesToSend = expected }
            Self.fit(&state.progress.bytesSent, &state.progress.totalBytesToSend, total)
        }
    }

    /// A response has arrived: a transport that does not report has sent the whole body.
    ///
    /// - Parameter length: The length of the request's body in bytes; `nil` if there is none, or if it is already
    ///   known.
    func endSending(_ length: Int? = nil) {
        change { state in
            guard !state.reportsSent, let total = state.progress.totalBytesToSend ?? length.map({ Int64($0) })
            else { return }
            state.progress.totalBytesToSend = total
            state.progress.bytesSent = max(state.progress.bytesSent, total)
        }
    }

    /// The body of a response begins.
    ///
    /// - Parameters:
    ///   - total: The bytes of the whole body, or of the whole file.
    ///   - received: The bytes of the file that earlier attempts have received and that are not requested again.
    func expect(_ total: Int64?, after received: Int64 = 0) {
        change { state in
            (state.received, state.progress.totalBytesToReceive) = (received, total)
            state.fit()
        }
    }

    func received(_ count: Int) {
        change { state in
            state.received += Int64(count)
            state.fit()
        }
    }

    /// Counts only this attempt if earlier ones have transferred more than its total; a wrong total is unknown.
    private static func fit(_ count: inout Int64, _ total: inout Int64?, _ ofThisAttempt: Int64) {
        guard let known = total, count > known else { return }
        count = ofThisAttempt
        if count > known { total = nil }
    }

    private func change(_ change: (inout State) -> Void) {
        let isDue = state.withLock { state in
            let before = state.progress
            change(&state)
            guard state.progress != before, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if isDue { queue.async { self.reportNow() } }
    }

    private func reportNow() {
        report(
            state.withLock { state in
                state.isScheduled = false
                return state.progress
            })
    }

    /// Waits for the last report.
    func finish() async throws {
        let end = OneShot<Void>()
        queue.async { end.resolve(.success(())) }
        try await end.value()
    }
}
