import URLConfig

extension HTTPStubs {
    /// The routes of a test, and their common settings.
    ///
    /// The first route that matches sends the response. Routes of an inner scope come before the routes of an outer
    /// one, and a test's routes before its suite's. A route is a template of a URL:
    ///
    /// ```swift
    /// $0.get("https://api.example.com/v2/users/{id}")     // scheme, host, port and path; a segment of any value
    /// $0.get("/v2/users?page=2")                          // any host; other query items are allowed
    /// $0.any("/v2/*")                                     // any method, and every path that begins like this
    /// ```
    ///
    /// It has one response for every request, or several that are sent one after the other, each once; or a closure
    /// makes the response of the request.
    public struct Routes: Sendable {
        /// The clock of calls whose `config:` names none; `nil`, the default, for a clock of its own for each call, on
        /// which delays take no time, and time limits pass only if a stub sleeps for longer.
        public var clock: TestClock?
        /// Encodes the models of `.json`, by default a new `JSONEncoder`.
        public var encoder = JSONEncoder()
        private let added = Locked<[Route]>([])
        var all: [Route] { added.withLock { $0 } }

        /// Adds a route for `GET` requests.
        public var get: Verb { Verb(method: .get, added: added) }
        /// Adds a route for `HEAD` requests.
        public var head: Verb { Verb(method: .head, added: added) }
        /// Adds a route for `POST` requests.
        public var post: Verb { Verb(method: .post, added: added) }
        /// Adds a route for `PUT` requests.
        public var put: Verb { Verb(method: .put, added: added) }
        /// Adds a route for `PATCH` requests.
        public var patch: Verb { Verb(method: .patch, added: added) }
        /// Adds a route for `DELETE` requests.
        public var delete: Verb { Verb(method: .delete, added: added) }
        /// Adds a route for requests with any method.
        public var any: Verb { Verb(method: nil, added: added) }

        /// Adds a route for requests with another method, such as `QUERY`.
        public func method(_ method: HTTPRequest.Method) -> Verb { Verb(method: method, added: added) }

        /// Adds a recording, which plays the responses to all requests that it has; see ``ReplayMode``.
        ///
        /// Each exchange is played once, in order, for its method, URL and body. Secrets are hidden in the file, and in
        /// requests before they are compared with it. If nothing of it is used, the test fails.
        ///
        /// - Parameters:
        ///   - name: The name of the file without `.har`. It is in the folder `__Replays__` beside the test's file.
        ///   - mode: What to do; by default what the environment variable `URLCONFIG_REPLAY` says.
        public func replay(
            _ name: String, mode: ReplayMode? = nil, fileID: String = #fileID, filePath: String = #filePath,
            line: UInt = #line
        ) {
            let recording = Result { () throws(StubMistake) in
                if let mode { return try Recording(name, beside: filePath, mode) }
                return try Recording(name, beside: filePath, .current(ProcessInfo.processInfo.environment))
            }
            let place = Place(fileID: fileID, filePath: filePath, line: line)
            added.withLock { $0.append(Route(recording, name, at: place)) }
        }

        /// Templates that cannot be read, and routes that can never match.
        static func mistakes(in routes: [Route]) -> [String] {
            var mistakes = routes.compactMap(\.mistake)
            var first: [String: (number: Int, route: Route)] = [:]
            for (index, route) in routes.enumerated() where route.isUnconditional {
                if let (number, earlier) = first[route.name] {
                    let text = "route \(index + 1), \(route.name), never matches, because route \(number)"
                    mistakes.append("\(route.place.description): \(text) in \(earlier.place.description) is the same")
                } else if route.isEndless {
                    first[route.name] = (index + 1, route)
                }
            }
            return mistakes
        }
    }

    /// Adds routes for one method.
    public struct Verb: Sendable {
        fileprivate let method: HTTPRequest.Method?
        fileprivate let added: Locked<[Route]>

        /// Adds a route with responses.
        ///
        /// - Parameters:
        ///   - template: The URL, as ``HTTPStubs/Routes`` explains.
        ///   - responses: One response for all requests, or several that are sent in order, each once.
        /// - Returns: The route, for conditions and counts.
        @discardableResult
        public func callAsFunction(
            _ template: String, _ responses: Response..., fileID: String = #fileID, line: UInt = #line
        ) -> Route {
            add(template, .responses(responses.isEmpty ? [.status(.ok)] : responses), fileID, line)
        }

        /// Adds a route whose responses are made of the requests.
        ///
        /// - Parameters:
        ///   - template: The URL, as ``HTTPStubs/Routes`` explains.
        ///   - respond: Returns the response. The call rethrows its errors.
        /// - Returns: The route, for conditions and counts.
        @discardableResult
        public func callAsFunction(
            _ template: String, fileID: String = #fileID, line: UInt = #line,
            _ respond: @escaping @Sendable (_ request: Request) async throws -> Response
        ) -> Route {
            add(template, .closure(respond), fileID, line)
        }

        private func add(_ template: String, _ content: Route.Content, _ fileID: String, _ line: UInt) -> Route {
            let route = Route(method, template, content, at: Place(fileID: fileID, line: line))
            added.withLock { $0.append(route) }
            return route
        }
    }
}
