import URLConfig

/// Where the app gets its dogs: screens know only this protocol, and their tests use another implementation.
protocol DogRepository: Sendable {
    /// A page of the breeds, counted from 1.
    func breeds(page: Int) async throws -> Document<[Breed]>
    /// Throws ``APIError`` with the status 404 if there is none.
    func breed(id: Breed.ID) async throws -> Breed
    func facts(limit: Int) async throws -> [Fact]
}

struct RemoteDogRepository: DogRepository {
    var api = URLRequest.Config.dogapi

    func breeds(page: Int) async throws -> Document<[Breed]> {
        try await document {
            $0.path = "/api/v2/breeds"
            $0.query["page[number]"] = page
        }
    }

    func breed(id: Breed.ID) async throws -> Breed {
        try await document { $0.path = "/api/v2/breeds/\(id)" }.data
    }

    func facts(limit: Int) async throws -> [Fact] {
        try await document {
            $0.path = "/api/v2/facts"
            $0.query["limit"] = limit
        }.data
    }

    private func document<Content>(
        _ configure: (inout URLRequest.Config) -> Void
    ) async throws -> Document<Content> {
        try await URLSession.shared.response(for: .with(api, configure), config: .dogapi).decode()
    }
}

extension URLRequest.Config {
    static let dogapi = Self(host: "https://dogapi.dog")
}

extension URLSession.Config {
    static let dogapi = Self().with {
        $0.decoder = JSONDecoder.dogapi
        $0.validators = [.orThrow(APIError.self)]
    }
}

extension JSONDecoder {
    static let dogapi = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()
}
