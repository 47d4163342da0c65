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
            let error = expectThrown(.unacceptableStatus, "\(name)") { try read(response(status)) }
            #expect(error?.response?.status == status)
            #expect(error?.response?.data == Data("7".utf8))
        }
    }

    @Test func `a reader of an app's own says which statuses it accepts`() throws {
        let exists = ResponseReader(status: [200, 404]) { $0.status == .ok }
        #expect(try exists.read(response(.ok)))
        #expect(try !exists.read(response(.notFound)))
        expectThrown(.unacceptableStatus) { try exists.read(response(.created)) }
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
    func `a refused status throws the API's own error, unless the status stands for a value`(
        reader: ResponseReader<Int?>
    ) throws {
        #expect(try reader.read(response(.ok)) == 7)
        #expect(try reader.read(response(.notFound, Self.refusal)) == nil)
        #expect(throws: APIError(message: "no such user")) { try reader.read(response(.forbidden, Self.refusal)) }
        let undecoded = expectThrown(.unacceptableStatus) { try reader.read(response(.forbidden, "<html>")) }
        #expect(undecoded?.underlyingError is DecodingError)
        expectThrown(.decoding) { try reader.read(response(.ok, Self.refusal)) }
    }

    @Test func `a 2xx that is not accepted stays unacceptable`() throws {
        let reader = ResponseReader(status: [201]) { _ in }.orThrow(APIError.self)
        expectThrown(.unacceptableStatus) { try reader.read(response(.ok)) }
        #expect(throws: APIError(message: "no such user")) { try reader.read(response(.conflict, Self.refusal)) }
        try reader.read(response(.created))
    }

    // The readers of the library.

    private struct Dog: Codable, Equatable, Sendable {
        var coatColor: String
    }

    private static let rex = Dog(coatColor: "red")

    @Test func `a model is read as JSON, and by an app's own reader with any decoder`() throws {
        let json = response(.ok, #"{"coat_color":"red"}"#)
        expectThrown(.decoding) { try ResponseReader<Dog>.json.read(json) }
        let list = DataResponseTests.response(try PropertyListEncoder().encode(Self.rex))
        let reader = ResponseReader<Dog> { try $0.decode(decoder: PropertyListDecoder()) }
        #expect(try reader.read(list) == Self.rex)
    }

    @Test func `the decoder is the default at the time when the response is read`() async {
        await #expect(processExitsWith: .success) {
            let reader = ResponseReader<[String: Int]>.json
            DataResponse.Config.defaultDecoder = PropertyListDecoder()
            let data = try PropertyListEncoder().encode(["a": 1])
            let request = URLRequest.with(.init(host: "https://api.example.com")) { _ in }
            #expect(try reader.read(DataResponse(request: request, data: data)) == ["a": 1])
        }
    }

    @Test func `a JSON text stays as it is, unless JSON is asked for`() throws {
        let json = response(.ok, #""Rex""#)
        #expect(try ResponseReader<String>.automatic.read(json) == #""Rex""#)
        #expect(try ResponseReader<String>.json.read(json) == "Rex")
    }

    @Test func `an optional text or data is read as one that is not`() throws {
        let json = response(.ok, #""aGVsbG8=""#)
        #expect(try ResponseReader<String?>.automatic.read(json) == #""aGVsbG8=""#)
        #expect(try ResponseReader<Data?>.automatic.read(json) == json.data)
        #expect(try ResponseReader<Data?>.automatic.or(nil, for: .ok).read(json) == nil)
        #expect(try ResponseReader<Int?>.automatic.read(response(.ok, "null")) == nil)
    }

    @Test func `bytes are read as they are, and text in the character set of the response`() throws {
        let bytes: [UInt8] = [0, 0xFF, 0x22]
        #expect(try ResponseReader<Data>.automatic.read(DataResponseTests.response(bytes)) == Data(bytes))
        #expect(try ResponseReader.data.read(DataResponseTests.response(bytes)) == Data(bytes))
        let latin = DataResponseTests.response([0x5A, 0x6F, 0xEB], contentType: "text/plain; charset=iso-8859-1")
        #expect(try ResponseReader.text.read(latin) == "Zoë")
    }

    @Test(arguments: ["", "{}", "<html>"])
    func `a content that is not read is no error`(text: String) throws {
        try ResponseReader.none.read(response(.ok, text))
    }
}
