import URLConfig

enum NotesService {
    /// The base URL; a test may replace it.
    @TaskLocal static var host = "https://notes.example.com/v1"
}

extension URLRequest.Config {
    static var notes: Self { Self(host: NotesService.host) { $0.headers[.appKey] = "5f2c" } }

    static func notes(_ token: String) -> Self { notes.with { $0.authorization = .bearer(token) } }
}

extension URLSession.Config {
    static let notes = Self().with { $0.decoder = JSONDecoder.notes }
}

extension JSONDecoder {
    static let notes = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }()
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
    var accessToken: String
}

/// The content of each response that is not 2xx.
struct ServiceError: Decodable, Equatable, Error {
    var code: String
    var message: String
}
