import BenchmarkContent
import Foundation

/// What arrives on a connection.
struct Input {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The head of the next request, with its blank line; `nil` at the end of the connection.
    mutating func head() -> [UInt8]? {
        while true {
            if let end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                defer { received.removeSubrange(..<end) }
                return Array(received[..<end])
            }
            guard let count = read() else { return nil }
            received += buffer[..<count]
        }
    }

    /// Reads the body that follows a head, and keeps none of it.
    ///
    /// - Returns: What it was; `nil` if the connection ends before.
    mutating func body(length: Int) -> Checksum? {
        var checksum = Checksum()
        let start = min(length, received.count)
        received[..<start].withUnsafeBytes { checksum.add($0) }
        received.removeSubrange(..<start)
        while checksum.count < length {
            guard let count = read(upTo: length - checksum.count) else { return nil }
            buffer[..<count].withUnsafeBytes { checksum.add($0) }
        }
        return checksum
    }

    private mutating func read(upTo most: Int = .max) -> Int? {
        let room = min(most, buffer.count)
        let count = Foundation.read(descriptor, &buffer, room)
        return count > 0 ? count : nil
    }
}
