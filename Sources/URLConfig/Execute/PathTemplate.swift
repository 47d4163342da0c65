/// A path with names in place of some segments, such as `/users/{id}`.
package struct PathTemplate: Sendable {
    private enum Segment {
        case literal(String)
        case name(String)

        func fits(_ sent: String) -> Bool {
            switch self {
            // As bytes: comparing characters takes quadratic time for a long text of combining marks.
            case .literal(let text): text.hasBytes(of: sent)
            case .name: !sent.isEmpty
            }
        }
    }

    /// The path as it was written.
    package let text: String
    private var segments: [Segment] = []
    /// Whether the path may have any segments after these.
    private var hasRest = false

    /// - Parameter path: The path, with or without percent-encoding.
    /// - Throws: `InvalidInput` for a brace without its partner, or two equal names.
    package init(_ path: String) throws(InvalidInput) {
        text = path
        var raw = Self.segments(path)
        if raw.last == "*" {
            raw.removeLast()
            hasRest = true
        }
        var names = Set<String>()
        for segment in raw {
            let name = segment.dropFirst().dropLast()
            if segment.hasPrefix("{"), segment.hasSuffix("}"), !name.isEmpty, !name.contains(where: "{}".contains) {
                guard names.insert(String(name)).inserted else {
                    throw InvalidInput("the template has {\(name)} twice")
                }
                segments.append(.name(String(name)))
            } else if segment.contains(where: "{}".contains) {
                throw InvalidInput("'\(segment)' is neither text nor a name in braces, such as {id}")
            } else {
                segments.append(.literal(segment))
            }
        }
    }

    /// A template of the preset, or `nil` with an error in the log if it is invalid.
    init?(route: String) {
        do throws(InvalidInput) {
            guard route.hasPrefix("/") else { throw InvalidInput("it does not begin with /") }
            try self.init(route.withoutQuery)
        } catch {
            URLSession.Config.defaultLogger?.error(
                "URLSession.Config.routes: '\(route.escapingControls)' is ignored: \(error.reason.escapingControls)")
            return nil
        }
    }

    /// The decoded segments of a path.
    fileprivate static func segments(_ path: String) -> [String] {
        (path.isEmpty ? "/" : path).split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            $0.removingPercentEncoding ?? String($0)
        }
    }

    /// Compares a path, with its percent-encoding.
    ///
    /// - Returns: The values of the names, whether the path fits, and how near it is.
    package func match(_ path: String) -> (values: [String: String], fits: Bool, distance: Int) {
        var (values, equal) = ([String: String](), 0)
        let sent = Self.segments(path)
        for (segment, sent) in zip(segments, sent) {
            equal += segment.fits(sent) ? 1 : 0
            if case .name(let name) = segment { values[name] = sent }
        }
        let fits = equal == segments.count && (sent.count == segments.count || hasRest)
        return (values, fits, max(segments.count, sent.count) - equal)
    }

    /// Whether the decoded segments of a path fit; it compares no more than it needs to.
    fileprivate func fits(_ sent: [String]) -> Bool {
        (sent.count == segments.count || hasRest && sent.count > segments.count)
            && zip(segments, sent).allSatisfy { $0.fits($1) }
    }
}

extension URLSession.Config {
    var routeTable: RouteTable { RouteTable(own: route, templates: templates) }
}

/// The route of a call, and the routes of its preset.
struct RouteTable: Sendable {
    let own: String?
    let templates: [PathTemplate]

    /// The template of a request's path; `nil` if none is known.
    ///
    /// - Parameter first: The request of the caller, to which `own` belongs; a redirect may lead to another path.
    func route(of request: URLRequest, after first: URLRequest?) -> String? {
        let (url, firstURL) = (request.url, first?.url ?? request.url)
        if let own, url == firstURL || Origin(url) == Origin(firstURL) && url?.path() == firstURL?.path() {
            return own.withoutQuery
        }
        guard !templates.isEmpty, let path = url?.path(percentEncoded: true) else { return nil }
        // A server may have chosen a long path, and there may be many templates.
        let segments = PathTemplate.segments(path)
        return templates.first { $0.fits(segments) }?.text
    }
}

extension String {
    fileprivate var withoutQuery: String { String(prefix { $0 != "?" && $0 != "#" }) }
}
