/// Gives the pieces of a body to a store while the caller reads them.
final class CacheEntryWriter: Sendable {
    private struct State {
        /// `nil` after the end, or if something has failed.
        var entry: (writer: any CacheWriter, expected: ExpectedResponses.Response)?
        var count: Int64 = 0
        /// Whether nothing has failed.
        var isStored = true
    }

    private let variant: String
    private let replaced: [String]
    private let length: Int64?
    private let remove: @Sendable (_ variant: String) async -> Void
    private let state: Locked<State>

    /// - Parameters:
    ///   - expected: Knows whether the response may be stored when its body has ended.
    ///   - variant: The variant of the response.
    ///   - replaced: The variants that are out of date now.
    ///   - length: The length of the body, if the server has told it.
    ///   - remove: Removes what is stored for a variant.
    init(
        _ writer: any CacheWriter, of expected: ExpectedResponses.Response, variant: String, replaced: [String],
        length: Int64?, remove: @escaping @Sendable (_ variant: String) async -> Void
    ) {
        (self.variant, self.replaced, self.length, self.remove) = (variant, replaced, length, remove)
        state = Locked(State(entry: (writer, expected)))
    }

    /// Whether the response is stored, or will be when the body has ended.
    var isStored: Bool { state.withLock { $0.isStored } }

    /// The body, which is stored as it is read.
    func storing(_ body: ResponseBody) throws -> ReceivedBody {
        let reader = try body.read()
        return ReceivedBody { [self] in
            do {
                let piece = try await reader.next()
                if let piece { await write(piece) } else { await finish() }
                return piece
            } catch {
                fail()
                throw error
            }
        }
    }

    private func write(_ piece: Data) async {
        guard let entry = state.withLock(\.entry) else { return }
        do {
            try await entry.writer.write(piece)
            state.withLock { $0.count += Int64(piece.count) }
        } catch {
            await failToStore(entry.expected)
        }
    }

    /// The response is not stored, but what it would have replaced is out of date.
    private func failToStore(_ expected: ExpectedResponses.Response) async {
        fail()
        for variant in replaced where expected.replaceEarlier(variant) { await remove(variant) }
    }

    private func finish() async {
        let (entry, count) = state.withLock { ($0.entry.take(), $0.count) }
        // A shorter body is one that was cut, whatever the transport says.
        guard let entry, length ?? count == count, entry.expected.replaceEarlier(variant) else { return fail() }
        do {
            try await entry.writer.finish()
        } catch {
            return await failToStore(entry.expected)
        }
        // A slow store may have ended after a later response was stored, or after this one was removed.
        if !entry.expected.isWanted(variant) {
            fail()
            await remove(variant)
        }
    }

    /// Nothing more is stored.
    private func fail() {
        state.withLock { $0.isStored = false }
        // It is released after the lock.
        state.set(\.entry, nil)
    }
}
