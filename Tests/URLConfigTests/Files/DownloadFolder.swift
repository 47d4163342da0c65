@testable import URLConfig

/// A temporary folder for a download, which is removed when it is released.
final class DownloadFolder: Sendable {
    static let url = URL(string: "https://files.example.com/a.zip?id=1")
    private let directory = TemporaryDirectory()
    var url: URL { directory.url }

    /// Where the download goes.
    var file: URL { url.appending(component: "a.zip") }
    /// The file with the bytes that have arrived, whose name has a random end.
    var part: URL {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
        return url.appending(component: all.first { $0.hasPrefix(".a.zip.urlconfig-part-") } ?? "missing")
    }
    var record: URL { url.appending(component: ".a.zip.urlconfig-state") }

    /// The names of all files, without the random end of a part.
    var names: [String] {
        get throws {
            let all = try FileManager.default.contentsOfDirectory(atPath: url.path())
            return all.map { $0.replacing(/part-[0-9a-z]+$/, with: "part") }.sorted()
        }
    }

    /// The length of a file in bytes; 0 if there is none.
    func size(_ url: URL) -> Int { (try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 }

    /// The content of a file; `nil` if there is none.
    func text(_ url: URL) -> String? { (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) } }

    /// Opens the part, as a run of a program does.
    func open(
        _ request: URLRequest? = nil, overwrites: Bool = false,
        didStep: @escaping @Sendable (PartialFile.Step) throws -> Void = { _ in }
    ) throws -> PartialFile {
        try PartialFile(
            for: DownloadTarget(file, overwrites: overwrites), of: request ?? Self.request(), didStep: didStep)
    }

    static func request(
        _ url: String? = nil, method: String = "GET", fields: [String: String] = [:]
    ) -> URLRequest {
        var request = URLRequest(url: url.flatMap { URL(string: $0) } ?? Self.url ?? URL(fileURLWithPath: "/"))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        return request
    }

    /// A version of the file.
    static func version(_ tag: String) -> StrongValidator? { StrongValidator([.eTag: "\"\(tag)\""], of: url) }

    /// Leaves a part behind, as a run that is interrupted does; the URL is the one after redirects.
    func leavePart(
        _ content: Data = Data("01234".utf8), named fields: HTTPFields = [.eTag: "\"v1\""], of url: URL? = nil,
        total: Int64? = 10, for request: URLRequest = request()
    ) throws {
        var part = try open(request)
        try part.restart(StrongValidator(fields, of: url ?? request.url), total: total)
        try part.append(content)
        part.close()
    }
}

extension PartialFile {
    /// Begins from the start, for somebody without credentials.
    mutating func restart(_ validator: StrongValidator? = nil, total: Int64? = nil) throws {
        try begin(at: 0, validator, total: total, for: .anonymous)
    }

    /// Continues the first version.
    mutating func resume(at offset: Int64, total: Int64, for requester: Requester = .anonymous) throws {
        try begin(at: offset, DownloadFolder.version("v1"), total: total, for: requester)
    }
}

extension Requester {
    /// Somebody without credentials.
    static let anonymous = Self(DownloadFolder.request("https://files.example.com/a.zip"))
}
