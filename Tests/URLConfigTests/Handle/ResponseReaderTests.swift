import Testing

@testable import URLConfig

@Suite struct ResponseReaderTests {
    private struct APIError: Decodable, Error, Equatable {
        var message: String
    }

    private static let refusal = #"{"message":"no such user"}"#

    private func response(_ status: HTTPResponse.Status, _ text: String = "7") -> DataResponse {
        DataResponseTests.response(text.utf8, contentType: "application/json", status: status)
    }

    private static let readers: [(String, @Sendable (DataResponse) throws -> Void)] = [
        ("automatic", { _ = try ResponseReader<Int>.automatic.read($0) }),
        ("automatic text", { _ = try ResponseReader<String>.automatic.read($0) }),
        ("automatic data", { _ = try ResponseReader<Data>.automatic.read($0) }),
        ("json", { _ = try ResponseReader<Int>.json.read($0) }),
        ("text", { _ = try ResponseReader.text.read($0) }),
        ("data", { _ = try ResponseReader.data.read($0) }),
        ("none", { try ResponseReader.none.read($0) }),
        ("an own one", { _ = try ResponseReader { $0.headerFields[.eTag] }.read($0) }),
        ("mapped", { _ = try ResponseReader<Int>.json.map { $0 + 1 }.read($0) }),
        ("or", { _ = try ResponseReader<Int>.json.or(0, for: .noContent).read($0) }),
    ]

    @Test(arguments: readers.indices)
    func `only 2xx is read`(index: Int) throws {
        let (name, read) = Self.readers[index]
        for status in [HTTPResponse.Status.ok, .created, 299] {
            #expect(throws: Never.self, "\(name)") { try read(response(status)) }
        }
        for status in [HTTPResponse.Status.switchingProtocols, .notModified, .notFound, .internalServerError, 999] {
            let error = #expect(throws: RequestError.self, "\(name)") { try read(response(status)) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.status == status)
            #expect(error?.response?.data == Data("7".utf8))
        }
    }

    @Test func `a reader of an app's own says which statuses it accepts`() throws {
        let exists = ResponseReader(status: [200, 404]) { $0.status == .ok }
        #expect(try exists.read(response(.ok)))
        #expect(try !exists.read(response(.notFound)))
        let error = #expect(throws: RequestError.self) { try exists.read(response(.created)) }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func `a status may stand for a value`() throws {
        let reader = ResponseReader<Int?>.json.or(nil, for: .notFound, .gone)
        #expect(try reader.read(response(.ok)) == 7)
        #expect(try reader.read(response(.notFound, "<html>")) == nil)
        #expect(try reader.read(response(.gone, "")) == nil)
        #expect(throws: RequestError.self) { try reader.read(response(.forbidden)) }
        #expect(try ResponseReader<Int>.json.or(0, for: .noContent).read(response(.noContent, "")) == 0)
    }

    @Test(arguments: [
        ResponseReader<Int?>.json.orThrow(APIError.self).or(nil, for: .notFound),
        ResponseReader<Int?>.json.or(nil, for: .notFound).orThrow(APIError.self),
    ])
    func `a refused status throws the API's own error, but for what stands for a value`(
        reader: ResponseReader<Int?>
    ) throws {
        #expect(try reader.read(response(.ok)) == 7)
        #expect(try reader.read(response(.notFound, Self.refusal)) == nil)
        #expect(throws: APIError(message: "no such user")) { try reader.read(response(.forbidden, Self.refusal)) }
        let undecoded = #expect(throws: RequestError.self) { try reader.read(response(.forbidden, "<html>")) }
        #expect(undecoded?.code == .unacceptableStatus)
        #expect(undecoded?.underlyingError is DecodingError)
        let unread = #expect(throws: RequestError.self) { try reader.read(response(.ok, Self.refusal)) }
        #expect(unread?.code == .decoding)
    }

    @Test func `a 2xx that is not accepted stays unacceptable`() throws {
        let reader = ResponseReader(status: [201]) { _ in }.orThrow(APIError.self)
        let error = #expect(throws: RequestError.self) { try reader.read(response(.ok)) }
        #expect(error?.code == .unacceptableStatus)
        #expect(throws: APIError(message: "no such user")) { try reader.read(response(.conflict, Self.refusal)) }
        try reader.read(response(.created))
    }
}
