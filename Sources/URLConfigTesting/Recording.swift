import URLConfig

final class Recording: Sendable {
    func claim(_ request: HTTPStubs.Request) -> Result<StubAnswer, StubMistake> { .failure(StubMistake("")) }
    func finish() -> String? { nil }
    func response(to sending: Transport.Request, _ request: HTTPStubs.Request, insteadOf original: Transport)
        async throws -> Transport.Response
    { throw StubMistake("") }
}
