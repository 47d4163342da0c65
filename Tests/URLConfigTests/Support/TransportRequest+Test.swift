import Foundation

@testable import URLConfig

extension Transport.Request {
    /// A request of a call that a test does not make.
    init(
        for request: URLRequest, in session: URLSession = .shared, config: URLSession.Config = .init(),
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) {
        let config = config.with(configure)
        let deadline = Deadline(config.deadline, config.clock, Attempts(redaction: config.redaction))
        self.init(
            urlRequest: request, session: session, allowsSessionCredentials: true, conditions: .init(config, deadline))
    }
}
