import Testing
import URLConfig
import URLConfigTesting

@testable import dogs

/// The app's own code, with its presets; only the server is a stub.
struct DogsTests {
    @Test(
        .stubs {
            $0.get("https://dogapi.dog/api/v2/breeds?page[number]=2", .json(#"{"data": [\#(LocalAPI.breeds[2])]}"#))
            $0.get("https://dogapi.dog/api/v2/breeds/{id}", .json(#"{"data": \#(LocalAPI.breeds[0])}"#))
        })
    func `breeds are read`() async throws {
        let page = try await RemoteDogRepository().breeds(page: 2)
        #expect(page.data.map(\.attributes.name) == ["Akita"])
        let breed = try await RemoteDogRepository().breed(id: "7")
        #expect(breed.attributes.life == .init(min: 14, max: 16))
        #expect(HTTPStubs.requests.last?.url.lastPathComponent == "7")
    }

    @Test(.stubs { $0.get("/api/v2/breeds/{id}", .json(#"{"errors": [{"title": "No dog"}]}"#, status: .notFound)) })
    func `a breed that does not exist is the API's own error`() async throws {
        let error = await #expect(throws: APIError.self) { try await RemoteDogRepository().breed(id: "0") }
        #expect(error?.description == "404: No dog")
    }

    @Test(.stubs { $0.get("/api/v2/facts?limit=2", .error(.notConnectedToInternet)) })
    func `a failure of the network is an error`() async {
        let error = await #expect(throws: URLError.self) { try await RemoteDogRepository().facts(limit: 2) }
        #expect(error?.code == .notConnectedToInternet)
    }

    @Test func `responses of a server are recorded, and played without it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dogs-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let test = folder.appending(path: "DogsTests.swift").path
        try await LocalAPI.run { host in
            let dogs = RemoteDogRepository(api: .dogapi.with { $0.host = host })
            let recorded = try await HTTPStubs.with {
                $0.replay("dogs", mode: .recordAll, filePath: test)
            } operation: {
                try await dogs.breeds(page: 1).data
            }
            try await HTTPStubs.with {
                $0.replay("dogs", mode: .replay, filePath: test)
            } operation: {
                let played = try await dogs.breeds(page: 1).data
                #expect(played == recorded)
            }
        }
    }
}
