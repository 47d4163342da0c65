@testable import URLConfig

/// A store of an app, which keeps what it is told.
struct AppStore: CacheStore {
    var store = MemoryStore(capacity: 10_000_000)
    /// Called before each function, with its name; it may wait or throw.
    var before: @Sendable (String) async throws -> Void = { _ in }
    let keys = Recorder<CacheKey>()

    func salt() async throws -> Data {
        try await before("salt")
        return store.salt()
    }

    func responses(for key: CacheKey) async throws -> [StoredResponse] {
        try await before("responses")
        return store.responses(for: key).map { stored in
            StoredResponse(head: stored.head, id: stored.id) {
                try await before("body")
                return try await stored.body()
            }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) async throws -> (any CacheWriter)? {
        try await before("writer")
        keys.note(key)
        return store.writer(for: head, key: key).map { Writer(store: self, writer: $0) }
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) async throws {
        try await before("update")
        store.update(response, head, key: key)
    }

    func remove(_ responses: CacheSelection?) async throws {
        try await before("remove")
        store.remove(responses)
    }

    private struct Writer: CacheWriter {
        let store: AppStore
        let writer: any CacheWriter

        func write(_ piece: Data) async throws {
            try await store.before("write")
            try await writer.write(piece)
        }

        func finish() async throws {
            try await store.before("finish")
            try await writer.finish()
        }
    }
}
