import Foundation
import Testing

@testable import URLConfig

/// One sentence for the error of a decoder.
@Suite struct DecodingErrorSummaryTests {
    private struct Model: Decodable {
        struct User: Decodable {
            enum Kind: String, Decodable { case a }
            var name: String?
            var age: Int
            var kind: Kind?
            var site: URL?
            var price: Decimal?
            var token: Kind?
        }
        var users: [User]
    }

    private struct Pair: Decodable {
        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            _ = (try array.decode(Int.self), try array.decode(Int.self))
        }
    }

    private static func summary<Model: Decodable>(_ model: Model.Type, _ json: String) -> String {
        do {
            _ = try JSONDecoder().decode(Model.self, from: Data(json.utf8))
            return ""
        } catch {
            return error.summary
        }
    }

    @Test(arguments: [
        (#"{"users":[{"name":"s3cret"}]}"#, "users[0].age is missing"),
        (#"{"users":[{"age":1},{"age":null}]}"#, "users[1].age is null, expected Int"),
        (#"{"users":[{"age":"s3cret"}]}"#, "users[0].age is a string, expected Int"),
        (#"{"users":[{"age":true}]}"#, "users[0].age is a boolean, expected Int"),
        (#"{"users":[{"age":[]}]}"#, "users[0].age is an array, expected Int"),
        (#"{"users":[{"age":1,"name":2}]}"#, "users[0].name is a number, expected String"),
        (#"{"users":[{"age":1,"kind":"x"}]}"#, "users[0].kind: Cannot initialize Kind from invalid String value x"),
        (#"{"users":[{"age":1,"site":""}]}"#, "users[0].site: Invalid URL string."),
        (#"{"users":[{"age":1,"price":"1"}]}"#, "users[0].price is not Decimal"),
        (#"{"users":[{"age":1,"token":"s3cret"}]}"#, "users[0].token: its value does not fit"),
        (#"{"users":7}"#, "users is a number, expected an array"),
        ("[]", "the top level is an array, expected an object"),
        ("null", "the top level is null, expected an object"), ("[", "The given data was not valid JSON."),
    ])
    func `it says where, expected and found, and quotes no secret`(json: String, expected: String) {
        #expect(Self.summary(Model.self, json) == expected)
    }

    @Test func `an array that is too short says so`() {
        #expect(Self.summary(Pair.self, "[1]") == "[1] is missing: the array ends before it")
    }

    @Test func `what a decoder quotes is cut`() {
        let value = String(repeating: "x\n", count: 100_000)
        let context = DecodingError.Context(codingPath: [], debugDescription: value)
        #expect(DecodingError.dataCorrupted(context).summary(.standard).utf8.count < 350)
    }
}
