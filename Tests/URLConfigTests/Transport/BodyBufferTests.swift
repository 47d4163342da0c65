import Foundation
import Testing

@testable import URLConfig

/// How the bytes of a body are collected.
@Suite struct BodyBufferTests {
    private static let body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    @Test(arguments: [-1, 0, 1, 100_000, 1_000_000, 2_000_000] as [Int64], [1_000, 300_000])
    func `the bytes arrive in order, whatever length was announced`(length: Int64, size: Int) throws {
        let body = Self.body
        var buffer = BodyBuffer()
        buffer.begin(length: length)
        for start in stride(from: 0, to: body.count, by: size) {
            try buffer.receive(Data(body[start..<min(start + size, body.count)]))
        }
        #expect(buffer.data == body)
    }

    @Test(arguments: [-1, 4, 1 << 20] as [Int64])
    func `what exceeds the limit is refused, and what fits is kept`(length: Int64) throws {
        var buffer = BodyBuffer(limit: 4)
        buffer.begin(length: length)
        try buffer.receive(Data("12".utf8))
        try buffer.receive(Data("34".utf8))
        #expect(throws: BodyTooLong.self) { try buffer.receive(Data("5".utf8)) }
        #expect(buffer.data == Data("1234".utf8))
    }

    @Test func `a slice is no slice to the caller`() throws {
        var buffer = BodyBuffer()
        buffer.begin(length: -1)
        try buffer.receive(Data("not this".utf8).dropFirst(4))
        #expect(buffer.data.startIndex == 0)
        #expect(buffer.data == Data("this".utf8))
    }

    @Test func `a response that begins anew replaces the one before, limit and all`() throws {
        var buffer = BodyBuffer(limit: 4)
        buffer.begin(length: 1 << 20)
        try buffer.receive(Data("1234".utf8))
        buffer.begin(length: 2)
        try buffer.receive(Data("12".utf8))
        #expect(buffer.data == Data("12".utf8))
        #expect(throws: BodyTooLong.self) { try buffer.receive(Data("345".utf8)) }
        #expect(buffer.data == Data("1234".utf8))
    }

    #if os(Linux)
    @Test func `a length that is only announced takes no more than 16 MB`() async {
        await #expect(processExitsWith: .success) {
            for length in [1 << 34, .max] as [Int64] {
                let before = try Memory.addressSpace()
                var buffer = BodyBuffer()
                buffer.begin(length: length)
                try buffer.receive(Data("{}".utf8))
                #expect(buffer.data == Data("{}".utf8))
                #expect(try Memory.addressSpace() - before < 32 << 20)
            }
        }
    }
    #endif
}
