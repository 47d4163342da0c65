import Foundation
import Testing

@testable import URLConfig

/// How the bytes of a body are collected.
@Suite struct BodyBufferTests {
    private static let body = Data.sample(1_000_000)

    @Test(arguments: [1_000, 300_000]) func `the bytes arrive in order`(size: Int) throws {
        let body = Self.body
        var buffer = BodyBuffer()
        for start in stride(from: 0, to: body.count, by: size) {
            try buffer.receive(Data(body[start..<min(start + size, body.count)]))
        }
        #expect(buffer.data == body)
    }

    @Test func `what exceeds the limit is refused, and what fits is kept`() throws {
        var buffer = BodyBuffer(limit: 4)
        try buffer.receive(Data("12".utf8))
        try buffer.receive(Data("34".utf8))
        #expect(throws: RequestError.self) { try buffer.receive(Data("5".utf8)) }
        #expect(buffer.data == Data("1234".utf8))
    }

    @Test func `a slice is no slice to the caller`() throws {
        var buffer = BodyBuffer()
        try buffer.receive(Data("not this".utf8).dropFirst(4))
        #expect(buffer.data.startIndex == 0)
        #expect(buffer.data == Data("this".utf8))
    }

    @Test func `bytes are taken out once`() throws {
        var buffer = BodyBuffer()
        #expect(try buffer.take() == nil)
        try buffer.receive(Data("12".utf8))
        #expect(try buffer.take() == Data("12".utf8))
        #expect(try buffer.take() == nil)
        try buffer.receive(Data("34".utf8))
        #expect(buffer.data == Data("34".utf8))
    }
}
