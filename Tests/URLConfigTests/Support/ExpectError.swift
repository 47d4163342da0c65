import Testing
import URLConfig

/// Expects that `body` throws an error of the library with this code, and returns the error.
@discardableResult
func expectError<Value>(
    _ code: RequestError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async -> RequestError? {
    let error = await #expect(throws: RequestError.self, comment, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
    return error
}

/// Expects that `body` throws an error of Foundation with this code, and returns the error.
@discardableResult
func expectError<Value>(
    _ code: URLError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async -> URLError? {
    let error = await #expect(throws: URLError.self, comment, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
    return error
}

/// Expects that `body`, which does not wait, throws an error of the library with this code, and returns the error.
@discardableResult
func expectThrown<Value>(
    _ code: RequestError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Value
) -> RequestError? {
    let error = #expect(throws: RequestError.self, comment, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == code, comment, sourceLocation: sourceLocation)
    return error
}

extension RequestError? {
    /// Whether it has this code, and its reason contains these words.
    func says(_ code: RequestError.Code, _ words: String...) -> Bool {
        map { error in error.code == code && words.allSatisfy { error.reason.contains($0) } } ?? false
    }
}
