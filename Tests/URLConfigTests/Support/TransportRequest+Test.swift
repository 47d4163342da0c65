@testable import URLConfig

extension Transport.Request {
    /// A request of a call that a test does not make.
    init(
        for request: URLRequest, in session: URLSession = .shared, config: URLSession.Config = .init(),
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) {
        var config = config.with(configure)
        config.redaction = config.redaction.knowing(request)
        let deadline = Deadline(config.deadline, config.clock) { limit, _ in
            RequestError(.deadlineExceeded, reason: "the deadline, \(limit.shown), passed")
        }
        self.init(request, session, .init(config, deadline))
    }
}
