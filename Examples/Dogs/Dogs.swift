import URLConfig

/// Dogs on the command line: a small app that knows its API only through a repository.
@main
struct Dogs {
    static func main() async {
        // Errors are printed below.
        URLSession.Config.defaultLogger = nil
        do {
            switch Arguments(Array(CommandLine.arguments.dropFirst())) {
            case .help:
                print(Arguments.usage)
            case .unknown:
                complain(Arguments.usage)
                exit(2)
            case .localCopy:
                try await LocalAPI.run { host in
                    let api = URLRequest.Config.dogapi.with { $0.host = host }
                    print("A copy of the API is listening on \(host).")
                    try await show(RemoteDogRepository(api: api))
                }
            case .host(let host):
                let api = URLRequest.Config.dogapi.with { $0.host = host }
                // Throws for an invalid host before anything is printed.
                _ = try api.request()
                try await show(RemoteDogRepository(api: api))
            }
        } catch {
            // The description of a URLError is its whole user info.
            complain("dogs: \((error as? URLError)?.localizedDescription ?? "\(error)")")
            exit(1)
        }
    }

    private static func show(_ repository: some DogRepository) async throws {
        let first = try await repository.breeds(page: 1)
        guard let listed = first.data.first else { throw Surprise("the first page has no breeds") }
        guard first.links?.next != nil else { throw Surprise("the first page has no link to the next one") }
        let second = try await repository.breeds(page: 2)
        guard let next = second.data.first, next.id != listed.id else { throw Surprise("both pages are the same") }
        print("\nTwo pages of breeds:")
        for breed in first.data + second.data { print("  \(breed.attributes.name)") }

        let breed = try await repository.breed(id: listed.id)
        guard breed == listed else { throw Surprise("the breed \(listed.id) differs from the one in the list") }
        print("\n\(breed.attributes.name), \(breed.attributes.life.min) to \(breed.attributes.life.max) years:")
        print("  \(breed.attributes.description)")

        let facts = try await repository.facts(limit: 2)
        guard facts.count == 2 else { throw Surprise("the request was for 2 facts, the response has \(facts.count)") }
        print("\nFacts:")
        for fact in facts { print("  \(fact.attributes.body)") }

        do {
            _ = try await repository.breed(id: "00000000-0000-0000-0000-000000000000")
            throw Surprise("there is a breed with the ID of zeros")
        } catch let error as APIError where error.status == .notFound {
            print("\nA breed that does not exist:\n  \(error)")
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

/// A valid response with other content than expected.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
