/// Gives the pieces of a body to a store while the caller reads them.
final class CacheEntryWriter: Sendable {
    private struct State {
        var writer: (any CacheWriter)?
        var expected: ExpectedResponses.Response?
        var count: Int64 = 0
        /// Whether nothing has failed.
        var isStored = true
    }

    private let variant: String
    private let length: Int64?
    private let state: Locked<State>

    /// - Parameters:
    ///   - expected: Knows whether the response may be stored when its body has ended.
    ///   - variant: The variant of the response.
    ///   - length: The length of the body, if the server has told it.
    init(_ writer: any CacheWriter, of expected: ExpectedResponses.Response, variant: String, length: Int64?) {
        (self.variant, self.length) = (variant, length)
        state = Locked(State(writer: writer, expected: expected))
    }

    /// Whether the response is stored, or will be when the body has ended.
    var isStored: Bool { state.withLock { $0.isStored } }

    /// Stores a body that has arrived.
    func store(_ outcome: SharedTransfer.Outcome) async {
        guard outcome.error == nil else { return fail() }
        await write(outcome.data)
        await finish()
    }

    /// The body, which is stored as it is read.
    func storing(_ body: ResponseBody, for request: Transport.Request, isOwn: Bool) throws -> ResponseBody {
        let reader = try body.read()
        let stored = ReceivedBody { [self] in
            do {
                guard let piece = try await reader.next() else {
                    await finish()
                    return nil
                }
                await write(piece)
                return piece
            } catch {
                fail()
                throw error
            }
        }
        if !isOwn {
            // A store of the app may block.
            stored.watch(TimeLimits(), of: request)
            stored.leavesSourceAlone()
        }
        return ResponseBody(stored)
    }

    private func write(_ piece: Data) async {
        guard let writer = state.withLock({ $0.writer }) else { return }
        do {
            try await writer.write(piece)
            state.withLock { $0.count += Int64(piece.count) }
        } catch {
            fail()
        }
    }

    private func finish() async {
        let (writer, expected, count) = state.withLock { ($0.writer.take(), $0.expected.take(), $0.count) }
        do {
            // A shorter body is one that was cut, whatever the transport says.
            guard let writer, length ?? count == count, expected?.replaceEarlier(variant) == true else {
                throw CancellationError()
            }
            try await writer.finish()
        } catch {
            fail()
        }
    }

    /// Nothing more is stored.
    func fail() {
        // They are released after the lock.
        _ = state.withLock { state in
            state.isStored = false
            return (state.writer.take(), state.expected.take())
        }
    }
}
