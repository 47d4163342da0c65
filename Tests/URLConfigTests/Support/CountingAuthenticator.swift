@testable import URLConfig

/// Numbers its credentials.
final class CountingAuthenticator: Authenticator {
    private let counts = Locked((asked: 0, refused: 0))
    private let renews: Bool
    var asked: Int { counts.withLock { $0.asked } }
    var refused: Int { counts.withLock { $0.refused } }

    init(renews: Bool = true) { self.renews = renews }

    func authorize(_ request: inout URLRequest) async throws {
        let number = counts.withLock { counts in
            counts.asked += 1
            return counts.asked
        }
        request.setValue("\(number)", forHTTPHeaderField: "Authorization")
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        counts.withLock { $0.refused += 1 }
        return renews
    }
}
