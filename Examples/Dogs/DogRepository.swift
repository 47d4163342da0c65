import URLConfig

/// Where the app gets its dogs from: its screens know this protocol only, and their tests bring one of their own.
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
        let request = URLRequest.with(api) {
            $0.path = "/api/v2/breeds"
            $0.query["page[number]"] = page
        }
        let response = try await URLSession.shared.response(for: request, config: .dogapi)
        return try response.decode(decoder: .dogapi)
    }

    func breed(id: Breed.ID) async throws -> Breed {
        let request = URLRequest.with(api) { $0.path = "/api/v2/breeds/\(id)" }
        let response = try await URLSession.shared.response(for: request, config: .dogapi)
        return try response.decode(Document<Breed>.self, decoder: .dogapi).data
    }

    func facts(limit: Int) async throws -> [Fact] {
        let request = URLRequest.with(api) {
            $0.path = "/api/v2/facts"
            $0.query["limit"] = limit
        }
        let response = try await URLSession.shared.response(for: request, config: .dogapi)
        return try response.decode(Document<[Fact]>.self, decoder: .dogapi).data
    }
}

extension URLRequest.Config {
    static let dogapi = Self(host: "https://dogapi.dog")
}

extension URLSession.Config {
    static let dogapi = Self().with { $0.validators = [.noAPIError] }
}

extension ResponseValidator {
    /// Throws ``APIError`` for whatever is no success.
    static let noAPIError = Self { response in
        guard !response.isSuccess else { return }
        // A proxy on the way may well answer with a page, not a document: then the status has to do.
        let document = try? response.decode(APIError.Document.self)
        throw APIError(status: response.status, reasons: document?.errors ?? [])
    }
}

extension JSONDecoder {
    static let dogapi = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()
}
