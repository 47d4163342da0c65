import FlyingFox
import Testing
import URLConfig

@Suite struct HTTPFieldsDateTests {
    private static let written = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func `a field is read and written as a date`() {
        var fields: HTTPFields = [.lastModified: Self.written, .expires: "0"]
        #expect(fields[date: .lastModified] == Date(timeIntervalSince1970: 784_111_777))
        #expect(fields[date: .expires] == nil)
        #expect(fields[date: .date] == nil)
        fields[date: .expires] = Date(timeIntervalSince1970: 784_111_777.5)
        #expect(fields[.expires] == Self.written)
        fields[date: .expires] = Date(timeIntervalSince1970: .nan)
        fields[date: .lastModified] = nil
        #expect(fields.isEmpty)
    }

    @Test func `what was not modified since its date is not sent again`() async throws {
        try await Loopback.serving { request in
            request.headers[HTTPHeader("If-Modified-Since")] == Self.written
                ? .status(.notModified)
                : .init(statusCode: .ok, headers: [HTTPHeader("Last-Modified"): Self.written], body: Data("a".utf8))
        } _: { server in
            let first = try await server.get()
            #expect(first.status == .ok)
            let request = server.request {
                $0.headers[date: .ifModifiedSince] = first.headerFields[date: .lastModified]
            }
            let second = try await server.response(for: request)
            #expect(second.status == .notModified)
        }
    }
}
