import Testing

@testable import URLConfig

/// One sentence for any error, without its values.
@Suite struct ErrorSummaryTests {
    @Test func `an encoding error does not show the value`() {
        let path = [AnyKey(stringValue: "a"), AnyKey(intValue: 1)]
        let context = EncodingError.Context(codingPath: path, debugDescription: "no")
        #expect(EncodingError.invalidValue("s3cret", context).summary == "a[1]: no")
        let top = EncodingError.Context(codingPath: [], debugDescription: "no")
        #expect(EncodingError.invalidValue("s3cret", top).summary == "no")
    }

    private struct Own: LocalizedError { var errorDescription: String? }
    private struct Told: Error, CustomStringConvertible { var description: String { "told" } }

    private enum Plain: Error {
        case lost
        case refused(String)
    }

    @Test func `other errors have their own description`() {
        #expect(InvalidInput("is empty").summary == "is empty")
        #expect(Own(errorDescription: "It broke.").summary == "It broke.")
        #expect(Own(errorDescription: nil).summary == "Own")
        #expect(Plain.lost.summary == "Plain.lost")
        #expect(Plain.refused("s3cret").summary == "Plain")
        #expect(Told().summary == "told")
        #expect(URLError(.timedOut).summary.hasSuffix("(URLError -1001)"))
        #expect(RequestError(.decoding, reason: "r").summary == "r")
    }
}
