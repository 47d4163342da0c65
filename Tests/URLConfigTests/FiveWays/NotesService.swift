import URLConfig

enum NotesService {
    /// Where the service is; a test puts its own server here.
    @TaskLocal static var host = "https://notes.example.com/v1"
}

extension URLRequest.Config {
    static var notes: Self {
        Self(host: NotesService.host) { $0.headers[.appKey] = "5f2c" }
    }
}

extension HTTPField.Name {
    static let appKey = Self("X-App-Key")!
    static let editor = Self("X-Editor")!
}

struct Note: Codable, Equatable, Sendable {
    var id: Int
    var title: String
}

struct Draft: Codable, Sendable {
    var title: String
    var tags: [String]
}

struct Grant: Decodable, Sendable {
    var token: String
}

/// What the service sends with every status but 2xx.
struct ServiceError: Decodable, Equatable, Error {
    var code: String
    var message: String
}
