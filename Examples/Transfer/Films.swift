import URLConfig

extension URLRequest {
    static func film(_ api: Config) -> URLRequest { .with(api) { $0.path = "/film" } }

    static func newFilm(_ api: Config) -> URLRequest {
        .with(api) {
            $0.method = .post
            $0.path = "/films"
        }
    }
}

/// Downloads and uploads large files.
struct Films {
    let api: URLRequest.Config

    /// Downloads the film, and continues after a lost connection.
    func download(to target: URL, _ show: @escaping @Sendable (TransferProgress) -> Void) async throws -> FileResponse {
        try await URLSession.shared.download(for: .film(api), to: target, overwrites: true) {
            $0.retry = .standard
            $0.progress = show
        }
    }

    /// Uploads a file in a form, and returns the number of bytes that the server has received.
    func upload(_ file: URL, _ show: @escaping @Sendable (TransferProgress) -> Void) async throws -> Int {
        var form = MultipartForm()
        form.append("title", "Holiday")
        form.append("film", file: file)
        let response = try await URLSession.shared.upload(.multipart(form), for: .newFilm(api)) { $0.progress = show }
        return try response.validated().decode(Receipt.self).size
    }

    private struct Receipt: Decodable {
        let size: Int
    }
}
