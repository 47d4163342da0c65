import FlyingFox
import Testing
import URLConfig

@Suite struct ResponseValidatorStatusTests {
    @Test(
        arguments: [
            (.forbidden, "cloudflare", "text/html; charset=UTF-8", true), (.forbidden, "Cloudflare", "text/html", true),
            (.forbidden, "cloudflare", "application/json", false), (.forbidden, "nginx", "text/html", false),
            (.ok, "cloudflare", "text/html", false), (.notFound, "cloudflare", "text/html", false),
        ] as [(HTTPStatusCode, String, String, Bool)])
    func `an app's own check recognises a page of Cloudflare, and posts a notification`(
        status: HTTPStatusCode, server name: String, contentType: String, isBlocked: Bool
    ) async throws {
        let center = NotificationCenter()
        try await Loopback.serving { _ in
            .init(
                statusCode: status, headers: [HTTPHeader("Server"): name, .contentType: contentType],
                body: Data("<html>Attention Required!</html>".utf8))
        } _: { server in
            try await confirmation(expectedCount: isBlocked ? 1 : 0) { posted in
                let token = center.addObserver(forName: .blockedByCloudflare, object: nil, queue: nil) { _ in posted() }
                defer { center.removeObserver(token) }
                func send() async throws {
                    try await server.get {
                        $0.validators = [.notBlockedByCloudflare(center)]
                    }
                }
                if isBlocked {
                    await #expect(throws: AppError.blockedByCloudflare) { try await send() }
                } else {
                    try await send()
                }
            }
        }
    }
}

private enum AppError: Error {
    case blockedByCloudflare
}

extension Notification.Name {
    fileprivate static let blockedByCloudflare = Self("BlockedByCloudflare")
}

extension ResponseValidator {
    /// The example of the documentation, with a notification center for this test.
    fileprivate static func notBlockedByCloudflare(_ center: NotificationCenter) -> Self {
        Self { response in
            guard response.status == .forbidden, response.headerFields[.server]?.lowercased() == "cloudflare",
                response.hasContentType(.html)
            else { return }
            center.post(name: .blockedByCloudflare, object: nil)
            throw AppError.blockedByCloudflare
        }
    }
}
