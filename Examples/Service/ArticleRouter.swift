#if AsyncHTTPClient && Telemetry && os(Linux)

import Hummingbird
import Logging
import URLConfig

/// The routes of the service.
struct ArticleRouter: Sendable {
    let upstreams: Upstreams

    var router: Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        // Requests to other services belong to the span of the request to this one.
        router.add(middleware: TracingMiddleware())
        router.add(middleware: RequestFrame())
        router.get("articles/:id") { _, context in
            try await page(context.parameters.require("id", as: Int.self), context)
        }
        return router
    }

    private func page(_ id: Int, _ context: ServiceContext) async throws -> Page {
        guard let article = try await upstreams.article(id, for: context) else {
            throw HTTPError(.notFound, message: "There is no article \(id).")
        }
        let author = try await upstreams.author(article.author, for: context)
        return Page(id: id, title: article.title, author: author?.name)
    }
}

/// An article with the name of its author; `nil` if nobody knows it.
struct Page: ResponseCodable {
    let id: Int
    let title: String
    let author: String?
}

/// A request to the service.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The calls of other services end at this time.
    let end = ContinuousClock.now + .seconds(5)

    init(source: Source) { coreContext = .init(source: source) }
}

/// Gives each request an ID, turns errors into responses, and logs both.
private struct RequestFrame: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceContext, next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        // `context.id` and everything that is logged with `context.logger` has this ID.
        context.logger[metadataKey: "hb.request.id"] = .string(id(of: request))
        var response: Response
        var failure: Logger.Metadata?
        do {
            response = try await next(request, context)
        } catch {
            failure = ["error": "\(error)"]
            response = try HTTPError(error).response(from: request, context: context)
        }
        response.headers[.requestID] = context.id
        context.logger.log(
            level: response.status.kind == .serverError ? .error : .info,
            "\(request.method) \(request.uri.path) \(response.status.code)", metadata: failure)
        return response
    }

    /// The caller's ID, if it is short and plain, or a new one.
    private func id(of request: Request) -> String {
        guard let id = request.headers[.requestID], id.wholeMatch(of: /[\w.-]{1,64}/.asciiOnlyWordCharacters()) != nil
        else { return UUID().uuidString }
        return id
    }
}

extension HTTPError {
    /// The error of an upstream service, for the caller: without its details, which are in the log.
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case let error as RequestError where error.code == .deadlineExceeded: self.init(.gatewayTimeout)
        case let error as URLError where error.code == .timedOut: self.init(.gatewayTimeout)
        case is RequestError, is URLError: self.init(.badGateway)
        default: self.init(.internalServerError)
        }
    }
}

extension HTTPField.Name {
    static var requestID: Self { Self("X-Request-ID")! }
}

#endif
