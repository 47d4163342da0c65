import Foundation
import Testing

@testable import URLConfig

/// How the bytes of a body are collected.
@Suite struct BodyBufferTests {
    private func address(_ sink: BodyBuffer) -> UnsafeRawPointer? {
        sink.data.withUnsafeBytes { $0.baseAddress }
    }

    @Test func `the room for an announced length is made once, and filled`() throws {
        var sink = BodyBuffer()
        sink.begin(length: 8 << 20)
        try sink.receive(Data(count: 1 << 14))
        let first = address(sink)
        for _ in 1..<512 {
            try sink.receive(Data(count: 1 << 14))
            #expect(address(sink) == first)
        }
        #expect(sink.data.count == 8 << 20)
    }

    @Test func `a slice is no slice to the caller`() throws {
        var sink = BodyBuffer()
        sink.begin(length: -1)
        try sink.receive(Data("not this".utf8).dropFirst(4))
        #expect(sink.data.startIndex == 0)
        #expect(sink.data == Data("this".utf8))
    }

    @Test func `an answer that begins anew has a room of its own`() throws {
        var sink = BodyBuffer(limit: 4)
        sink.begin(length: 1 << 20)
        try sink.receive(Data("1234".utf8))
        sink.begin(length: 2)
        try sink.receive(Data("12".utf8))
        #expect(sink.data == Data("12".utf8))
        #expect(throws: BodyTooLong.self) { try sink.receive(Data("345".utf8)) }
        #expect(sink.data == Data("1234".utf8))
    }
}
