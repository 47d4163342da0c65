@preconcurrency import Dispatch
import URLConfig

extension HTTPStubs {
    /// How a test uses a recording.
    ///
    /// The environment variable `URLCONFIG_REPLAY` names it for a whole run. If `CI` is also set, recording is an
    /// error.
    public enum ReplayMode: String, Sendable {
        /// Plays the file; a request that it does not have fails the test. The default.
        case replay
        /// Plays the file. Requests that neither it nor another route has are sent to the real servers, and added to
        /// it.
        case recordMissing
        /// Sends all requests that no other route has to the real servers, and replaces the file; other tests of the
        /// run add to it.
        ///
        /// All tests that have the file must run in one process: each process replaces it.
        case recordAll

        static let variable = "URLCONFIG_REPLAY"

        /// The mode of this run.
        static func current(_ environment: [String: String]) throws(StubMistake) -> Self {
            guard let text = environment[variable], !text.isEmpty else { return .replay }
            guard let mode = Self(rawValue: text) else {
                throw StubMistake("\(variable) is '\(text)', not replay, recordMissing or recordAll")
            }
            if mode != .replay, environment["CI"]?.isEmpty == false {
                throw StubMistake("\(variable) is \(text), but nothing is recorded where CI is set")
            }
            return mode
        }
    }
}

/// A file of exchanges, which a test plays or records.
final class Recording: Sendable {
    private struct State {
        /// How often each exchange was asked for.
        var played: [ExchangeKey: Int] = [:]
        /// The exchanges of the file by their key, for each set of hidden names.
        var indices: [Redaction: [ExchangeKey: [Int]]] = [:]
        var recorded: [Exchange] = []
        /// Whether it has sent a response, or a request to a server.
        var isUsed = false

        /// The key of the first exchange that is not used up and whose secrets may hide what a request has.
        func next(in index: [ExchangeKey: [Int]], fitting keys: [ExchangeKey]) -> ExchangeKey? {
            let unused = index.compactMap { key, numbers in
                numbers.dropFirst(played[key, default: 0]).first.map { (number: $0, key: key) }
            }
            return unused.sorted { $0.number < $1.number }.first { next in keys.contains { $0.fits(next.key) } }?.key
        }
    }

    /// Tests that run at the same time may have one file.
    private static let disk = DispatchQueue(label: "URLConfigTesting.recordings")
    /// The files that were replaced in this run.
    private static let replaced = Locked<Set<URL>>([])

    private let file: URL
    private let mode: HTTPStubs.ReplayMode
    private let archive: Archive?
    private let state = Locked(State())

    /// - Parameters:
    ///   - name: The name of the file without `.har`.
    ///   - test: The path of the test's source file; the recording is in `__Replays__` beside it.
    /// - Throws: ``StubMistake`` if the file cannot be read, or nothing may be recorded.
    init(_ name: String, beside test: String, _ mode: HTTPStubs.ReplayMode) throws(StubMistake) {
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains(where: "/\\:\0".contains) else {
            throw StubMistake("'\(name)' is not the name of a file: recordings are in __Replays__ beside the test")
        }
        self.mode = mode
        file = URL(filePath: test).deletingLastPathComponent().appending(path: "__Replays__/\(name).har")
        let exists = FileManager.default.fileExists(atPath: file.path)
        if !exists, mode == .replay {
            throw StubMistake("there is no \(file.path); \(HTTPStubs.ReplayMode.variable)=recordMissing records it")
        }
        archive = exists && mode != .recordAll ? try Archive(contentsOf: file) : nil
    }

    var isUsed: Bool { state.withLock { $0.isUsed } }

    /// Whether requests that the file does not have are sent to their servers.
    var records: Bool { mode != .replay }

    /// The next response to a request from the file.
    func claim(_ request: HTTPStubs.Request) -> Result<StubResponder, StubMistake> {
        let names = request.redaction.knowing(secretsOf: [])
        let exchanges = archive?.exchanges ?? []
        let index =
            state.withLock { $0.indices[names] }
            ?? Dictionary(grouping: exchanges.indices) { exchanges[$0].key(names) }
        // The second fits a file that a browser has written: its secrets are hidden here by their value.
        let keys = [ExchangeKey(recorded: request, names), ExchangeKey(request, names)]
        let (key, number) = state.withLock { state in
            state.indices[names] = index
            let key = keys.first { index[$0] != nil } ?? state.next(in: index, fitting: keys) ?? keys[0]
            defer { state.played[key, default: 0] += 1 }
            return (key, state.played[key, default: 0])
        }
        let found = index[key] ?? []
        if number < found.count {
            state.set(\.isUsed, true)
            return .success(exchanges[found[number]].response.sent)
        }
        return .failure(
            StubMistake(
                found.isEmpty
                    ? "has no exchange with this method, URL and body" + others(than: request, names, index)
                    : "has sent \(found.count) of \(found.count) responses to this request"))
    }

    /// The exchanges, for a request that none of them is for; the nearest first.
    private func others(
        than request: HTTPStubs.Request, _ names: Redaction, _ index: [ExchangeKey: [Int]]
    ) -> String {
        let (most, played, exchanges) = (5, state.withLock { $0.played }, archive?.exchanges)
        let sent = "\(request.method.rawValue) \(names.url(request.url.absoluteString))"
        let path = request.url.path(percentEncoded: true)
        let all = index.map { key, numbers in
            let exchange = exchanges?[numbers[0]]
            let (name, isSamePath) = (exchange?.name(names) ?? "", exchange?.path == path)
            let used = min(played[key] ?? 0, numbers.count)
            let use = used == numbers.count ? ", used up" : used > 0 ? ", used \(used) of \(numbers.count) times" : ""
            return (
                distance: name == sent ? 0 : isSamePath ? 1 : 2, number: numbers[0],
                text: "\n  - \(request.hiding(name))\(name == sent ? " with another body" : "")\(use)"
            )
        }.sorted { ($0.distance, $0.number) < ($1.distance, $1.number) }
        if all.isEmpty { return "" }
        let rest = all.count > most ? "\n  and \(all.count - most) others" : ""
        return ", but:" + all.prefix(most).map(\.text).joined() + rest
    }

    /// Sends the request to its server, and keeps the response as the caller reads it.
    func response(
        to sending: Transport.Request, _ request: HTTPStubs.Request, insteadOf original: Transport
    ) async throws -> Transport.Response {
        state.set(\.isUsed, true)
        var response = try await HTTPStubs.network { try await original.send(sending) }
        let exchange = Exchange(
            request: request, status: response.status, headerFields: response.headerFields.withLifetime,
            isStream: sending.isStream)
        state.withLock { $0.recorded.append(exchange) }
        let pieces = response.body.makeAsyncIterator()
        response.body = ResponseBody(
            AsyncThrowingStream {
                do {
                    let piece = try await pieces.next()
                    if let piece { exchange.pieces.withLock { $0.append(piece) } }
                    if piece == nil { exchange.end.set(\.self, .complete) }
                    return piece
                } catch {
                    if !(error is CancellationError) { exchange.end.set(\.self, .lost) }
                    throw error
                }
            })
        return response
    }

    /// Writes what was recorded.
    ///
    /// - Returns: Why it is not written; `nil` if it is, or if there is nothing to write.
    func finish() -> String? {
        let recorded = state.withLock { $0.recorded }.filter { exchange in exchange.end.withLock { $0 } != .lost }
        guard !recorded.isEmpty else { return nil }
        do {
            try Self.disk.sync {
                let folder = file.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                // `swift test --parallel` runs tests of XCTest in several processes.
                let lock = open(folder.path, O_RDONLY | O_CLOEXEC)
                while flock(lock, LOCK_EX) != 0, errno == EINTR {}
                defer { close(lock) }
                // Another test may have written it since this one has read it.
                let isNew = mode == .recordAll && !Self.replaced.withLock { $0.contains(file) }
                let exists = FileManager.default.fileExists(atPath: file.path)
                try Archive.write(recorded, after: isNew || !exists ? nil : Archive(contentsOf: file), to: file)
                if isNew { Self.replaced.withLock { _ = $0.insert(file) } }
            }
            return nil
        } catch {
            return "\(file.lastPathComponent) is not written: \((error as? StubMistake)?.text ?? "\(error)")"
        }
    }
}

/// Which exchange of a recording belongs to a request: the one with its method, URL and body, without secrets.
struct ExchangeKey: Hashable {
    private let method: String
    private let url: String
    private let body: [UInt8]

    init(method: String, url: String, body: Data, _ contentType: MediaType?, _ redaction: Redaction) {
        self.method = method
        self.url = Self.canonical(redaction.url(url))
        self.body = Self.canonical(redaction.hiding(recorded: body, contentType), contentType)
    }

    /// The key of a request as a recording would have it.
    init(recorded request: HTTPStubs.Request, _ redaction: Redaction) {
        let (own, type) = (request.redaction, request.contentType)
        self.init(
            method: request.method.rawValue, url: own.url(request.url.absoluteString),
            body: own.hiding(recorded: request.body, type, keepsNumbers: true), type, redaction)
    }

    init(_ request: HTTPStubs.Request, _ redaction: Redaction) {
        self.init(
            method: request.method.rawValue, url: request.url.absoluteString, body: request.body, request.contentType,
            redaction)
    }

    /// Whether it is the key of a recorded exchange but for its secrets.
    ///
    /// What is secret in another exchange is also `***` in this one, and the request does not know it.
    func fits(_ recorded: Self) -> Bool {
        method == recorded.method && Self.fits(Array(url.utf8), Array(recorded.url.utf8), within: "/?&")
            && Self.fits(body, recorded.body, within: "&\"")
    }

    /// - Parameter delimiters: They are not in what is hidden, so that no other segment, item or member is.
    private static func fits(_ text: [UInt8], _ recorded: [UInt8], within delimiters: String) -> Bool {
        func mayBeSecret(_ part: ArraySlice<UInt8>) -> Bool {
            !part.isEmpty && !part.contains { delimiters.utf8.contains($0) }
        }
        var parts = recorded.split(separator: Array("***".utf8), omittingEmptySubsequences: false)[...]
        let first = parts.removeFirst()
        guard text.starts(with: first) else { return false }
        var rest = text.dropFirst(first.count)
        guard let last = parts.popLast() else { return rest.isEmpty }
        for part in parts {
            guard let found = rest.dropFirst().firstRange(of: part), mayBeSecret(rest[..<found.lowerBound])
            else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.reversed().starts(with: last.reversed()) && mayBeSecret(rest.dropLast(last.count))
    }

    /// A URL without its fragment and the default port, with items sorted by name.
    private static func canonical(_ url: String) -> String {
        guard let parts = URLComponents(string: url) else { return url }
        let (scheme, host) = (parts.scheme?.lowercased() ?? "", parts.host?.lowercased() ?? "")
        let port = parts.port.flatMap { $0 == ["http": 80, "https": 443][scheme] ? nil : ":\($0)" } ?? ""
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        // Items of one name keep their order.
        let items = (parts.percentEncodedQueryItems ?? []).enumerated()
            .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
            .map { _, item in item.name + (item.value.map { "=\($0)" } ?? "") }
        return "\(scheme)://\(host)\(port)" + spelled("\(path)?\(items.joined(separator: "&"))")
    }

    /// Escapes in upper case, and none for characters that some clients escape (RFC 2396 §2.3), among them the mask's.
    private static func spelled(_ text: String) -> String {
        text.replacing(/%[0-9A-Fa-f]{2}/) { escape in
            let character = String(escape.output).removingPercentEncoding ?? ""
            let isOptional = character.wholeMatch(of: /[A-Za-z0-9\-_.!~*'()]/) != nil
            return isOptional ? character : escape.output.uppercased()
        }
    }

    /// A body in which neither the order of JSON's members, nor the escapes nor the boundary of a form make a
    /// difference.
    private static func canonical(_ body: Data, _ contentType: MediaType?) -> [UInt8] {
        if contentType?.description.contains("json") == true, let tree = JSONTree(body) { return Array(tree.text.utf8) }
        if contentType?.essence == "application/x-www-form-urlencoded" {
            let bytes = Array(body).replacing("+".utf8, with: "%20".utf8)
            // As Latin-1, in which each byte is another character.
            return Array(spelled(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))).utf8)
        }
        guard let boundary = contentType?.parameters["boundary"], !boundary.isEmpty else { return Array(body) }
        return Array(body).replacing(Array(boundary.utf8), with: "boundary".utf8)
    }
}

extension Redaction {
    /// A body as it is recorded.
    ///
    /// - Parameter keepsNumbers: Whether `0` is in place of a hidden number. Bodies are compared without it, because
    ///   older files have `***` there.
    func hiding(recorded body: Data, _ contentType: MediaType?, keepsNumbers: Bool = false) -> Data {
        hiding(body: body, Self.format(contentType), keepsNumbers: keepsNumbers)
    }

    /// The secrets in a body that is recorded.
    func secrets(recorded body: Data, _ contentType: MediaType?) -> [[UInt8]] {
        secrets(in: body, Self.format(contentType))
    }

    /// Lines of JSON are read like events.
    private static func format(_ contentType: MediaType?) -> MediaType? {
        let type = contentType?.description ?? ""
        return type.contains("ndjson") || type.contains("jsonl") ? .eventStream : contentType
    }
}
