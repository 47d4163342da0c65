import Foundation
import Testing

@testable import URLConfig

/// One sentence for any error, without the values that were at hand.
@Suite struct FlawTests {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int?

        init(_ name: String) { stringValue = name }
        init(_ index: Int) { (stringValue, intValue) = ("Index \(index)", index) }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { self.init(intValue) }
    }

    @Test func `a coding path reads as Swift writes it`() {
        #expect(([] as [any CodingKey]).text(.none) == "the top level")
        #expect(([Key("users"), Key(3), Key("email")] as [any CodingKey]).text(.none) == "users[3].email")
        #expect(([Key(0), Key("a"), Key(1), Key(2)] as [any CodingKey]).text(.none) == "[0].a[1][2]")
    }

    private struct Model: Decodable {
        struct User: Decodable { var name: String, age: Int }
        var users: [User]
    }

    private func summary(_ json: String) -> String {
        do {
            _ = try JSONDecoder().decode(Model.self, from: Data(json.utf8))
            return ""
        } catch {
            return error.summary
        }
    }

    @Test(arguments: [
        (#"{"users":[{"name":"s3cret"}]}"#, "users[0].age is missing"),
        (#"{"users":[{"name":"s3cret","age":1},{"name":null,"age":1}]}"#, "users[1].name is null, expected String"),
        (#"{"users":[{"name":"a","age":"s3cret"}]}"#, "users[0].age is a string, expected Int"),
        (#"[]"#, "the top level is an array, expected an object"),
    ])
    func `a decoding error says where and what`(json: String, expected: String) {
        #expect(summary(json).hasPrefix(expected), "\(summary(json))")
        #expect(!summary(json).contains("s3cret"))
    }

    @Test func `an encoding error does not show the value`() {
        let context = EncodingError.Context(codingPath: [Key("a"), Key(1)], debugDescription: "no")
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

    @Test func `other errors say what they say of themselves`() {
        #expect(Flaw("is empty").summary == "is empty")
        #expect(Own(errorDescription: "It broke.").summary == "It broke.")
        #expect(Own(errorDescription: nil).summary == "Own")
        #expect(Plain.lost.summary == "Plain.lost")
        #expect(Plain.refused("s3cret").summary == "Plain")
        #expect(Told().summary == "told")
        #expect(URLError(.timedOut).summary.hasSuffix("(URLError -1001)"))
        #expect(RequestError(.decoding, stage: .decoding, reason: "r").summary == "r")
    }
}
