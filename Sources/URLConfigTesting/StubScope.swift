import URLConfig

#if canImport(Testing)
import Testing
#endif

/// A line of a test or of the code under test.
struct Place: Sendable {
    var fileID: String
    /// `nil` if it is not known, as for calls: the library knows only their `fileID`.
    var filePath: String?
    var line: UInt

    /// Such as `AppTests/UserTests.swift:12`.
    var description: String { "\(fileID):\(line)" }
}

/// The stubs of one test, and what it has sent.
final class StubScope: Sendable {
    @TaskLocal static var current: StubScope?

    private struct State {
        var routes: HTTPStubs.Routes
        var requests: [HTTPStubs.Request] = []
        /// Whether it is no failure if a route is not used.
        var mayBeUnused = false
        /// The failures that could not be reported otherwise.
        var failures: [String] = []
    }

    private let parent = StubScope.current
    private let place: Place
    /// The latest date of all calls: a response must not come from the future of the next call.
    private let latest: Locked<Date> = current?.latest ?? Locked(Date())
    private let state: Locked<State>

    init(_ routes: HTTPStubs.Routes, in place: Place) {
        self.place = place
        state = Locked(State(routes: routes))
    }

    /// The clock of the innermost scope that has one.
    var clock: TestClock? { scopes.lazy.compactMap(\.routes.clock).first }
    var requests: [HTTPStubs.Request] { state.withLock { $0.requests } }
    /// This scope and those around it, from the innermost one.
    private var scopes: [StubScope] { Array(sequence(first: self, next: \.parent)) }
    private var allRoutes: [HTTPStubs.Route] { scopes.flatMap(\.routes.all) }
    var routes: HTTPStubs.Routes {
        get { state.withLock { $0.routes } }
        set { state.set(\.routes, newValue) }
    }

    /// The test does not use this scope and those around it.
    func needNotBeUsed() { for scope in scopes { scope.state.set(\.mayBeUnused, true) } }

    /// Runs an operation in this scope, and reports what was not used.
    nonisolated(nonsending) func run<Result>(_ operation: () async throws -> Result) async throws -> Result {
        let routes = routes.all
        try check(HTTPStubs.Routes.mistakes(in: routes))
        // A transport of the app that is tested alone passes its requests on.
        let standIn = Transport(identity: self) { [self] in
            try await response(to: $0, 1, of: place, insteadOf: .urlSession)
        }
        let scope = CallScope {
            standIn
        } change: { [self] config, fileID, line in
            enter(&config, Place(fileID: fileID, line: line))
        }
        self.routes.clock?.expectCall()
        let result: Result
        do {
            result = try await StubScope.$current.withValue(self) {
                try await CallScope.$current.withValue(scope, operation: operation)
            }
        } catch {
            // The code under test may have replaced the error that says what happened.
            try check(state.withLock { $0.failures }, after: error)
            throw error
        }
        try check(routes.compactMap { $0.recording }.compactMap { $0.finish() })
        if !state.withLock(\.mayBeUnused) { for route in routes { route.unused.map { report($0, at: route.place) } } }
        try check(state.withLock { $0.failures })
        return result
    }

    private func check(_ failures: [String], after error: (any Error)? = nil) throws {
        if failures.isEmpty { return }
        throw RequestError(.invalidStubs, reason: failures.joined(separator: "\n"), underlyingError: error)
    }

    /// Puts the stubs in place of a call's transport, and a test's time in place of real time.
    private func enter(_ config: inout URLSession.Config, _ call: Place) {
        if config.clock is ContinuousClock || config.clock is SuspendingClock {
            // A real server takes real time.
            let other = allRoutes.contains(where: \.asksServers) ? config.clock : TestClock.immediate(after: latest)
            config.clock = clock?.used(by: call.description) ?? other
        }
        let (original, count) = (config.transport, Locked(0))
        config.transport = Transport(identity: self) { [self] sending in
            let attempt = count.withLock { count in
                count += 1
                return count
            }
            return try await response(to: sending, attempt, of: call, insteadOf: original)
        }
    }

    private func response(
        to sending: Transport.Request, _ attempt: Int, of call: Place, insteadOf original: Transport
    ) async throws -> Transport.Response {
        // The library's transports do not send it. A cache of the call has answered before.
        if original.isBuiltIn, sending.urlRequest.cachePolicy == .returnCacheDataDontLoad {
            throw URLError(notStored: sending.urlRequest.url)
        }
        let (request, sending) = try await HTTPStubs.Request.of(sending, attempt)
        for scope in scopes { scope.state.withLock { $0.requests.append(request) } }
        var near: [HTTPStubs.Route.Difference] = []
        for scope in scopes {
            let routes = scope.routes
            for (index, route) in routes.all.enumerated() {
                switch route.claim(request) {
                case .failure(var difference):
                    difference.route = "route \(index + 1), \(route.name) (\(route.place.description))"
                    near.append(difference)
                case .success(let respond):
                    do {
                        let response = try await respond(sending, original, routes.encoder)
                        sending.storeCookies(of: response)
                        return response
                    } catch let mistake as StubMistake {
                        throw failure("\(route.name) cannot respond: \(mistake.text)", request, at: route.place)
                    }
                }
            }
        }
        // No route has it, so it is recorded.
        if let recording = allRoutes.compactMap(\.recording).first(where: \.records) {
            let response = try await recording.response(to: sending, request, insteadOf: original)
            sending.storeCookies(of: response)
            return response
        }
        near.sort { $0.distance < $1.distance }
        let shown = near.prefix(3).map { "\n- \($0.route): \($0.text)" }.joined()
        let reason = shown.isEmpty ? ", and there are no routes" : "; the nearest:" + shown
        throw failure("matches no route" + reason, request, at: call)
    }

    /// Reports a failure of a call, and returns the error that it throws.
    private func failure(_ reason: String, _ request: HTTPStubs.Request, at place: Place) -> RequestError {
        let error = RequestError(
            .notStubbed, reason: "\(reason)\n(the call is in \(place.description))", request: request.urlRequest)
        report("\(request.description) \(reason)", at: place)
        return error
    }

    private func report(_ text: String, at place: Place) {
        var place = place
        if place.fileID == self.place.fileID { place.filePath = self.place.filePath }
        if !recordIssue(text, at: place) {
            state.withLock { $0.failures.append("\(place.description): \(text)") }
        }
    }
}

/// Calls that no scope reaches.
enum Refusal {
    /// Whether only calls outside of tests are refused.
    private static let isDetachedOnly = Locked(true)

    static func refuse(detachedOnly: Bool) {
        if !detachedOnly { isDetachedOnly.set(\.self, false) }
        CallScope.outside.set(\.self, scope { !isDetachedOnly.withLock { $0 } || !isInTest })
    }

    /// A scope without stubs.
    static let offline = scope { true }

    private static func scope(_ refuses: @escaping @Sendable () -> Bool) -> CallScope {
        CallScope(hasOwnCaches: false) {
            // The app's own transport passes a request on; it does not know the call.
            refuses() ? transport(at: nil) : nil
        } change: { config, fileID, line in
            guard config.transport.isBuiltIn, refuses() else { return }
            config.cache = nil
            config.transport = transport(at: Place(fileID: fileID, line: line))
        }
    }

    private static func transport(at place: Place?) -> Transport {
        Transport { sending in
            // It would not be sent.
            if sending.urlRequest.cachePolicy == .returnCacheDataDontLoad {
                throw URLError(notStored: sending.urlRequest.url)
            }
            let error = error("the call" + (place.map { " in \($0.description)" } ?? ""))
            recordIssue(error.reason, at: place)
            throw error
        }
    }

    static func error(_ what: String) -> RequestError {
        RequestError(
            .notStubbed,
            reason: "\(what) would reach the network, because no stub is in its place. Detached tasks "
                + "and Dispatch leave the scope of a test. If a test needs a real server, give it the trait .network")
    }

    private static var isInTest: Bool {
        #if canImport(Testing)
        return Test.current != nil
        #else
        return false
        #endif
    }
}

/// Records an issue in the test that runs, by default at the test; returns `false` if Swift Testing runs none.
@discardableResult
func recordIssue(_ text: String, at place: Place?) -> Bool {
    #if canImport(Testing)
    guard let test = Test.current else { return false }
    let location = place.map { place in
        // It crashes for a file without a module, and for line zero.
        let fileID = place.fileID.contains("/") ? place.fileID : "Unknown/\(place.fileID)"
        return SourceLocation(
            fileID: fileID, filePath: place.filePath ?? fileID, line: max(1, Int(place.line)), column: 1)
    }
    Issue.record(Comment(rawValue: text), sourceLocation: location ?? test.sourceLocation)
    return true
    #else
    return false
    #endif
}

extension RequestError.Code {
    /// A call of a test matches no route, or would reach the network.
    public static let notStubbed = Self(rawValue: "notStubbed")
    /// The stubs or the recordings of a test cannot be used.
    public static let invalidStubs = Self(rawValue: "invalidStubs")
}
