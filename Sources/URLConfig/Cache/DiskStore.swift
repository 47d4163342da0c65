final class DiskStore: CacheStore {
    let store: MemoryStore
    init(capacity: Int, folder: URL) { store = MemoryStore(capacity: capacity) }
    func salt() async throws -> Data { store.salt() }
    func responses(for key: CacheKey) async throws -> [StoredResponse] { store.responses(for: key) }
    func writer(for head: StoredResponse.Head, key: CacheKey) async throws -> (any CacheWriter)? {
        store.writer(for: head, key: key)
    }
    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) async throws {
        store.update(response, head, key: key)
    }
    func remove(_ responses: CacheSelection?) async throws { store.remove(responses) }
}
