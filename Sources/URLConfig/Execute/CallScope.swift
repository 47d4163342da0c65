/// Replaces servers and time for the calls of a task.
///
/// The product `URLConfigTesting` is made of it.
package struct CallScope: Sendable {
    /// The scope of this task; `nil` for none.
    @TaskLocal package static var current: Self?
    /// The scope of calls that have none, such as calls in detached tasks.
    package static let outside = Locked<Self?>(nil)

    /// Retries in one scope do not use up the retries of another.
    private let budget = RetryPolicy.Budget()
    /// Whether responses to calls in one scope are not given to others: a cache is empty in each scope.
    private let hasOwnCaches: Bool
    /// The caches of the scope.
    ///
    /// The original is kept, so that no other one has its identity.
    private let caches = Locked<[ObjectIdentifier: (original: HTTPCache.Core, own: HTTPCache.Core)]>([:])
    private let change: @Sendable (inout URLSession.Config, _ fileID: String, _ line: UInt) -> Void
    private let standIn: @Sendable () -> Transport?

    /// - Parameters:
    ///   - standIn: What sends requests that reach one of the library's own transports; `nil` for itself.
    ///   - change: Changes the settings of a call. It knows where the call is made.
    package init(
        hasOwnCaches: Bool = true,
        standIn: @escaping @Sendable () -> Transport? = { nil },
        change: @escaping @Sendable (inout URLSession.Config, _ fileID: String, _ line: UInt) -> Void = { _, _, _ in }
    ) {
        (self.hasOwnCaches, self.standIn, self.change) = (hasOwnCaches, standIn, change)
    }

    private static var scope: Self? { current ?? outside.withLock { $0 } }

    /// Applies the scope to the settings of a call, over everything else.
    static func enter(_ config: inout URLSession.Config, _ fileID: String, _ line: UInt) {
        guard let scope else { return }
        scope.change(&config, fileID, line)
        if let core = config.cache?.core { config.cache?.core = scope.place(for: core) }
        if config.retry.budget === RetryPolicy.Budget.shared { config.retry.budget = scope.budget }
    }

    /// The cache of the scope for another one, which is returned if there is no scope.
    static func place(for core: HTTPCache.Core) -> HTTPCache.Core { scope?.place(for: core) ?? core }

    private func place(for core: HTTPCache.Core) -> HTTPCache.Core {
        guard hasOwnCaches else { return core }
        return caches.withLock { caches in
            let pair = caches[ObjectIdentifier(core)] ?? (core, HTTPCache.memory(megabytes: 50).core)
            caches[ObjectIdentifier(core)] = pair
            return pair.own
        }
    }

    /// What takes the place of the library's own transports; `nil` for nothing.
    package static var standIn: Transport? { scope?.standIn() }
}

/// A clock with its own rule for time limits: they alone do not make the time pass.
package protocol AlarmClock: Clock where Duration == Swift.Duration {
    /// The date on the clock.
    var date: Date { get }

    /// Calls a function after a delay, unless the returned function is called before.
    ///
    /// - Parameter fire: It does not block. It must not be called before this function returns.
    func alarm(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension Transport.Request {
    /// Whether the caller reads the body of the response in pieces.
    package var isStream: Bool { !buffersBody }
    /// The clock of the call.
    package var clock: any Clock<Duration> { conditions.clock }
    /// The longest time without a byte: the request's own time limit, or else the session's; `nil` for no limit.
    package var silenceLimit: Duration? {
        let limits = timeLimits(session.configuration).0
        return limits.silence ?? limits.whole
    }
    /// The request with the fields and cookies of the session's configuration.
    package var completeURLRequest: URLRequest { complete(session.configuration) }
    /// Hides the secrets of the call.
    package var redaction: Redaction { conditions.redaction }
}

extension Transport {
    /// A reused connection was closed before a response; a transport throws it.
    package static var lostConnection: any Error { LostConnection() }
}

extension Transport.Body {
    /// The whole body, of every kind.
    ///
    /// - Throws: The errors of opening and reading it.
    package func data() async throws -> Data {
        if case .data(let data) = self { return data }
        if case .sequence(let pieces, _) = self { return try await pieces.collect() }
        let stream = try opened().0
        stream.open()
        defer { stream.close() }
        var (data, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else {
                if count < 0 { throw stream.streamError ?? URLError(.cannotOpenFile) }
                return data
            }
            data.append(contentsOf: buffer[..<count])
        }
    }
}

/// For recordings, which are written for people, and compared with requests that have other secrets.
extension Redaction {
    /// A copy that hides the secrets of several requests.
    ///
    /// - Parameters:
    ///   - requests: Each with the redaction of its call, whose names are also secret.
    ///   - received: Values that servers gave; they are hidden if they look like credentials.
    package func knowing(secretsOf requests: [(URLRequest, Redaction)], received: [[UInt8]] = []) -> Self {
        let known = KnownSecrets()
        // First: only a limited number of them is added, and the values of the requests would be counted.
        known.add(received: received, self)
        for (request, redaction) in requests {
            // The first URL of each call was not chosen by a server.
            for names in [redaction, self] { known.add(KnownSecrets(request, after: redaction.known).values(names)) }
        }
        return knowing(known)
    }

    /// A body, whose format and character set are not changed; text that only a mark says to be Unicode becomes UTF-8.
    ///
    /// - Parameter keepsNumbers: Whether `0` is in place of a hidden number of JSON, so that it can be decoded.
    package func hiding(body: Data, _ type: MediaType?, keepsNumbers: Bool = false) -> Data {
        guard isActive else { return body }
        let found = finders(in: body, type).map { finder in
            (finder.bytes, keepsNumbers ? finder.withNumbers.masked() : finder.masked())
        }.filter { $0 != $1 }
        let encoding = String.Encoding(charset: type?.charset) ?? .utf8
        for (bytes, shown) in found {
            let isRaw = bytes.elementsEqual(body)
            if let data = isRaw ? Data(shown) : String(decoding: shown, as: UTF8.self).data(using: encoding) {
                return data
            }
        }
        return found.first.map { Data($1) } ?? body
    }

    /// The values in a body that ``hiding(body:_:)`` hides.
    package func secrets(in body: Data, _ type: MediaType?) -> [[UInt8]] {
        isActive ? finders(in: body, type).flatMap(\.secrets) : []
    }

    /// The values that are secret in header fields, without the attributes of cookies.
    package func secrets(in fields: HTTPFields) -> [[UInt8]] {
        fields.flatMap { field in
            let value = Array(field.value.utf8)
            guard hides(field.name.rawName) else { return SecretFinder(value, .text, self).secrets }
            let end = field.name == .setCookie ? value.firstIndex(of: UInt8(ascii: ";")) : nil
            return value[..<(end ?? value.count)].split { " ,;=".utf8.contains($0) }.map { Array($0) }
        }
    }

    private func finders(in body: Data, _ type: MediaType?) -> [SecretFinder] {
        // In a character set such as UTF-16, the bytes show no secret.
        let (text, bytes) = (body.text(charset: type?.charset).map { Array($0.utf8) } ?? [], Array(body))
        return (text == bytes ? [bytes] : [text, bytes]).map { SecretFinder($0, .init(recorded: type, $0), self) }
    }
}

extension SecretFinder {
    /// The same with `0` in place of hidden numbers.
    fileprivate var withNumbers: Self {
        var finder = self
        for mask in masks where Double(String(decoding: bytes[mask.range], as: UTF8.self)) != nil {
            // Only a number of JSON is hidden with quotes of its own. Of masks at one place, the shortest is shown.
            if mask.text.first == UInt8(ascii: "\"") { finder.hide(mask.range, as: "0") }
        }
        return finder
    }
}
