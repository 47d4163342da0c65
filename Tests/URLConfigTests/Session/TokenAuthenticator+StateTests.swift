import Foundation
import Testing

@testable import URLConfig

/// The state of the tokens and its decisions, without a network.
@Suite struct TokenAuthenticatorStateTests {
    private typealias State = TokenAuthenticator.State
    private typealias Token = TokenAuthenticator.Token
    private struct Unreachable: Error {}

    /// The macro does not accept a mutating expression.
    private func expect(
        _ expected: Bool, _ actual: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(actual == expected, sourceLocation: sourceLocation)
    }

    private let now = Date(timeIntervalSince1970: 1000)
    private let old = Token("old")

    /// A state with the loaded token "old".
    private func loaded() -> State {
        var state = State()
        expect(true, state.take(.success(old), for: nil, since: state.generation, isLate: false, at: now))
        return state
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
        for result in [.success(Token("new")), .success(nil), .failure(Unreachable())] as [Result<Token?, any Error>] {
            for other in [Token("other"), nil] {
                var state = loaded()
                let start = state.generation
                state.set(other, [], at: now)
                expect(false, state.take(result, for: old, since: start, isLate: isLate, at: now))
                #expect(state.token == other)
                #expect(!state.isUnknown)
            }
        }
    }

    @Test func `past its limit, a renewal changes nothing unless it brings a token`() {
        for result in [.success(nil), .failure(Unreachable())] as [Result<Token?, any Error>] {
            var state = loaded()
            expect(false, state.take(result, for: old, since: state.generation, isLate: true, at: now))
            #expect(state.token == old)
        }
        var state = loaded()
        expect(true, state.take(.success(Token("new")), for: old, since: state.generation, isLate: true, at: now))
        #expect(state.token == Token("new"))
    }

    @Test func `a renewal that fails ends the wait, and changes nothing`() {
        var state = loaded()
        let generation = state.generation
        expect(true, state.take(.failure(Unreachable()), for: old, since: generation, isLate: false, at: now))
        #expect(state.token == old)
        #expect(state.generation == generation)
    }

    @Test func `a token that could not be replaced is not loaded again, but may be set or refreshed`() {
        var state = loaded()
        expect(true, state.take(.success(nil), for: old, since: state.generation, isLate: false, at: now))
        #expect(state.isUnknown)
        expect(true, state.take(.success(old), for: nil, since: state.generation, isLate: false, at: now))
        #expect(state.isUnknown)
        expect(true, state.take(.success(Token("b")), for: nil, since: state.generation, isLate: false, at: now))
        expect(true, state.take(.success(old), for: Token("b"), since: state.generation, isLate: false, at: now))
        #expect(state.token == old)
        state.set(nil, [], at: now)
        #expect(!state.isUnknown)
        state.set(old, ["old"], at: now)
        #expect(state.token == old)
    }

    @Test(arguments: [(30.0, 1069.0, false), (30, 1070, true), (80, 1049, false), (80, 1050, true), (-1, 1100, false)])
    func `a token is due shortly before its expiry, but not in the first half of its life`(
        leeway: Double, time: Double, isDue: Bool
    ) {
        var state = State()
        state.set(Token("a", expiry: now + 100), ["a"], at: now)
        #expect(state.isDue(at: Date(timeIntervalSince1970: time), leeway: .seconds(leeway)) == isDue)
        #expect(state.isUsable(at: Date(timeIntervalSince1970: time)) == (time < 1100))
    }

    @Test func `a token without an expiry is never due`() {
        #expect(!loaded().isDue(at: .distantFuture, leeway: .seconds(30)))
        #expect(loaded().isUsable(at: now + 1e9))
    }

    @Test func `the same credentials are reported once, until they are set or got anew`() {
        var state = loaded()
        expect(true, state.report(["old"]))
        expect(false, state.report(["old"]))
        expect(true, state.report([]))
        expect(true, state.report(["other"]))
        state.set(old, ["old"], at: now)
        expect(true, state.report(["old"]))
        expect(true, state.report([]))
        expect(false, state.report(["other"]))
    }

    @Test func `of ten thousand refused tokens, the last hundred are known`() {
        var state = State()
        for number in 0..<10_000 {
            let token = Token("token-\(number)")
            _ = state.take(.success(token), for: nil, since: state.generation, isLate: false, at: now)
            expect(true, state.report([token.value]))
            _ = state.take(.success(nil), for: token, since: state.generation, isLate: false, at: now)
        }
        #expect(String(reflecting: state).utf8.count < 100_000)
        state.set(old, ["old"], at: now)
        for number in [9_900, 9_999] {
            let token = Token("token-\(number)")
            expect(false, state.report([token.value]))
            _ = state.take(.success(token), for: nil, since: state.generation, isLate: false, at: now)
            #expect(state.token == old)
        }
    }

    @Test func `a token that could not be replaced and its absence are reported as one`() {
        var state = loaded()
        _ = state.take(.success(nil), for: old, since: state.generation, isLate: false, at: now)
        expect(true, state.report(["old"]))
        expect(false, state.report([]))
        _ = state.take(.success(Token("b")), for: nil, since: state.generation, isLate: false, at: now)
        expect(true, state.report(["b"]))
        expect(true, state.report([]))
    }
}
