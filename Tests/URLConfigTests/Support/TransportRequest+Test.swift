import Foundation

@testable import URLConfig

extension Transport.Request {
    /// A request of a call that a test does not make.
    init(for request: URLRequest, _ configure: (inout URLSession.Config) -> Void = { _ in }, isTransfer: Bool = false) {
        let config = URLSession.Config().with(configure)
        let deadline = Deadline(config.deadline, config.clock, Attempts(redaction: config.redaction))
        self.init(
            urlRequest: request, session: .shared, allowsSessionCredentials: true,
            conditions: .init(config, deadline, isTransfer: isTransfer))
    }
}
