import Foundation
import Synchronization

/// Answers the requests of one connection, one after the other.
struct Connection {
    /// The requests of all connections so far.
    static let requests = Atomic(0)

    let descriptor: Int32

    func serve() {
        defer { close(descriptor) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            received += buffer[..<count]
            while let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                Self.requests.add(1, ordering: .relaxed)
                let path = received.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first ?? []
                guard write(Answer(path: path)) else { return }
                received.removeSubrange(..<end.upperBound)
            }
        }
    }

    private func write(_ answer: Answer) -> Bool {
        guard write(answer.head[...]) else { return false }
        var left = answer.fill
        while left > 0 {
            let count = min(left, Answer.filling.count)
            guard write(Answer.filling[..<count]) else { return false }
            left -= count
        }
        return true
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = send(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, 0)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
