import FlyingFox

@testable import URLConfig

/// A caller's delegate that responds to challenges as a test wants, and records its calls.
final class ChallengeDelegate: NSObject, URLSessionDataDelegate {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    let challenges = Locked<[Int]>([])
    /// The expected number of bytes in each report.
    let sent = Locked<[Int64]>([])
    private let answer: Answer

    init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        answer = (disposition, credential)
    }

    /// Responds with the credential of `ada`.
    convenience init(password: String) {
        self.init(.useCredential, URLCredential(user: "ada", password: password, persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.withLock { $0.append(challenge.previousFailureCount) }
        completionHandler(answer.0, answer.1)
        // The second call is wrong, and must do no harm.
        #if canImport(FoundationNetworking)
        completionHandler(answer.0, answer.1)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.withLock { $0.append(totalBytesExpectedToSend) }
    }
}

extension Loopback {
    /// Serves requests with the password of `ada`, which is `secret`, and responds with what it received.
    static func guarded(_ body: (Loopback) async throws -> Void) async throws {
        try await serving(
            { request in
                let sent = String(decoding: try await request.bodyData, as: UTF8.self)
                let password = "Basic \(Data("ada:secret".utf8).base64EncodedString())"
                guard request.headers[.authorization] == password else { return .challenge(text: "who are you?") }
                return .json("welcome \(sent)")
            }, body)
    }
}
