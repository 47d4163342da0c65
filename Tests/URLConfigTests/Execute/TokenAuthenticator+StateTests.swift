import Foundation
import Testing

@testable import URLConfig

/// The state of the tokens and its decisions, without a network.
@Suite struct TokenAuthenticatorStateTests {
    private typealias State = TokenAuthenticator.State
    private typealias Token = TokenAuthenticator.Token

    /// The macro does not accept a mutating expression.
    private func expect(_ expected: Bool, _ actual: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(actual == expected, sourceLocation: sourceLocation)
    }

    private let now = Date(timeIntervalSince1970: 1000)
    private static let withoutToken: [Result<Token?, any Error>] = [.success(nil), .failure(Unreachable())]

    /// A state with the loaded token "old".
    private func loaded() -> State {
        var state = State()
        expect(true, take(.success("old"), for: nil, &state))
        return state
    }

    /// Takes the result of a renewal, whose time limit may have passed.
    private func take(
        _ result: Result<Token?, any Error>, for token: Token?, isLate: Bool = false, _ state: inout State
    ) -> Bool {
        let renewal = state.beginRenewal(of: token)
        if isLate { state.renewal = nil }
        defer { state.renewal = nil }
        return state.take(result, of: renewal, at: now)
    }

    @Test func `nothing is known at first`() {
        let state = State()
        #expect(state.isUnknown)
        #expect(state.token == nil)
        #expect(!state.isUsable(at: now))
        #expect(!state.isDue(at: now, leeway: .seconds(30)))
    }

    @Test(arguments: [false, true])
    func `what a renewal returns is ignored once the token has changed`(isLate: Bool) {
        for result in [.success("new")] + Self.withoutToken {
            for other in ["other", nil] as [Token?] {
                var state = loaded()
                let renewal = state.beginRenewal(of: "old")
                if isLate { state.renewal = nil }
                state.set(other, credentials: "", at: now)
                expect(false, state.take(result, of: renewal, at: now))
                #expect(state.token == other)
                #expect(!state.isUnknown)
            }
        }
    }

    @Test func `past its limit, a renewal changes nothing unless it brings a token`() {
        var state = loaded()
        for result in Self.withoutToken {
            expect(false, take(result, for: "old", isLate: true, &state))
            #expect(state.token == "old")
        }
        expect(true, take(.success("new"), for: "old", isLate: true, &state))
        #expect(state.token == "new")
    }

    @Test func `a renewal that fails ends the wait, and changes nothing`() {
        var state = loaded()
        let generation = state.generation
        expect(true, take(.failure(Unreachable()), for: "old", &state))
        #expect(state.token == "old")
        #expect(state.generation == generation)
    }

    @Test func `a token that could not be replaced is not loaded again, but may be set or refreshed`() {
        var state = loaded()
        expect(true, take(.success(nil), for: "old", &state))
        #expect(state.isUnknown)
        expect(true, take(.success("old"), for: nil, &state))
        #expect(state.isUnknown)
        expect(true, take(.success("b"), for: nil, &state))
        expect(true, take(.success("old"), for: "b", &state))
        #expect(state.token == "old")
        state.set(nil, credentials: "", at: now)
        #expect(!state.isUnknown)
        state.set("old", credentials: "old", at: now)
        #expect(state.token == "old")
    }

    @Test func `a token that refresh returns unchanged is not refreshed again for ten seconds, unless it is set`() {
        var state = loaded()
        #expect(state.mayRefresh(at: now))
        expect(true, take(.success("old"), for: "old", &state))
        for (seconds, mayRefresh) in [(-1.0, true), (0, false), (9.9, false), (10, true)] {
            #expect(state.mayRefresh(at: now + seconds) == mayRefresh)
        }
        state.set("old", credentials: "old", at: now)
        #expect(state.mayRefresh(at: now))
    }

    @Test(arguments: [(30.0, 1069.0, false), (30, 1070, true), (80, 1049, false), (80, 1050, true), (-1, 1100, false)])
    func `a token is due shortly before its expiry, but not in the first half of its life`(
        leeway: Double, time: Double, isDue: Bool
    ) {
        var state = State()
        state.set(Token("a", expiry: now + 100), credentials: "a", at: now)
        #expect(state.isDue(at: Date(timeIntervalSince1970: time), leeway: .seconds(leeway)) == isDue)
        #expect(state.isUsable(at: Date(timeIntervalSince1970: time)) == (time < 1100))
    }

    @Test func `a token without an expiry is never due`() {
        #expect(!loaded().isDue(at: .distantFuture, leeway: .seconds(30)))
        #expect(loaded().isUsable(at: now + 1e9))
    }

    @Test func `the same credentials are reported once, until they are set or got anew`() {
        var state = loaded()
        expect(true, state.report("old"))
        expect(false, state.report("old"))
        expect(true, state.report(""))
        expect(true, state.report("other"))
        state.set("old", credentials: "old", at: now)
        expect(true, state.report("old"))
        expect(true, state.report(""))
        expect(false, state.report("other"))
    }

    @Test func `a token that could not be replaced and its absence are reported as one`() {
        var state = loaded()
        _ = take(.success(nil), for: "old", &state)
        expect(true, state.report("old"))
        expect(false, state.report(""))
        _ = take(.success("b"), for: nil, &state)
        expect(true, state.report("b"))
        expect(true, state.report(""))
    }

    @Test func `of ten thousand refused tokens, the last hundred are known`() {
        var state = State()
        for number in 0..<10_000 {
            let token = Token("token-\(number)")
            _ = take(.success(token), for: nil, &state)
            expect(true, state.report(token.value))
            _ = take(.success(nil), for: token, &state)
        }
        #expect(String(reflecting: state).utf8.count < 100_000)
        state.set("old", credentials: "old", at: now)
        for number in [9_900, 9_999] {
            let token = Token("token-\(number)")
            expect(false, state.report(token.value))
            _ = take(.success(token), for: nil, &state)
            #expect(state.token == "old")
        }
    }
}
