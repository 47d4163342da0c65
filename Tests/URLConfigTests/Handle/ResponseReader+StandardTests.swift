import Testing

@testable import URLConfig

@Suite struct ResponseReaderStandardTests {
    private struct Dog: Codable, Equatable, Sendable {
        var coatColor: String
    }

    private static let rex = Dog(coatColor: "red")

    private func response(_ bytes: some Sequence<UInt8>, _ contentType: String? = nil) -> DataResponse {
        DataResponseTests.response(bytes, contentType: contentType)
    }

    @Test func `a model is read as JSON, and by an app's own reader with any decoder`() throws {
        let json = response(#"{"coat_color":"red"}"#.utf8)
        let error = #expect(throws: RequestError.self) { try ResponseReader<Dog>.json.read(json) }
        #expect(error?.code == .decoding)
        let list = response(try PropertyListEncoder().encode(Self.rex))
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

    @Test(arguments: [
        (Array("Zoë".utf8), nil), ([0x5A, 0x6F, 0xEB], "text/plain; charset=iso-8859-1"),
        ([0xEF, 0xBB, 0xBF] + Array("Zoë".utf8), "text/plain"),
    ])
    func `text is in the character set that the server names`(bytes: [UInt8], contentType: String?) throws {
        #expect(try ResponseReader.text.read(response(bytes, contentType)) == "Zoë")
    }

    @Test func `a JSON text stays as it is, unless JSON is asked for`() throws {
        let json = response(#""Rex""#.utf8, "application/json")
        #expect(try ResponseReader<String>.automatic.read(json) == #""Rex""#)
        #expect(try ResponseReader<String>.json.read(json) == "Rex")
    }

    @Test func `an optional text or data is read as one that is not`() throws {
        let json = response(#""aGVsbG8=""#.utf8, "application/json")
        #expect(try ResponseReader<String?>.automatic.read(json) == #""aGVsbG8=""#)
        #expect(try ResponseReader<Data?>.automatic.read(json) == json.data)
        #expect(try ResponseReader<Data?>.automatic.or(nil, for: .ok).read(json) == nil)
        #expect(try ResponseReader<Int?>.automatic.read(response("null".utf8)) == nil)
    }

    @Test func `bytes stay as they are`() throws {
        let bytes: [UInt8] = [0, 0xFF, 0x22]
        #expect(try ResponseReader<Data>.automatic.read(response(bytes)) == Data(bytes))
        #expect(try ResponseReader.data.read(response(bytes)) == Data(bytes))
    }

    @Test(arguments: ["", "{}", "<html>"])
    func `a content that is not asked for is no error`(text: String) throws {
        try ResponseReader.none.read(response(text.utf8))
    }
}
