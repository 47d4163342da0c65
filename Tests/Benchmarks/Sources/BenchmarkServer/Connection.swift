import BenchmarkContent
import Foundation
import Synchronization

/// Answers the requests of one connection, one after the other.
struct Connection {
    /// The requests of all connections so far.
    static let requests = Atomic(0)

    let descriptor: Int32

    func serve() {
        defer { close(descriptor) }
        var input = Input(descriptor: descriptor)
        while let head = input.head() {
            Self.requests.add(1, ordering: .relaxed)
            let path = head.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first ?? []
            // Nothing is sent.
            if path.elementsEqual("/silence".utf8) { continue }
            let isSink = path.elementsEqual("/sink".utf8)
            guard let answer = isSink ? received(head, &input) : Answer(path: path), write(answer) else { return }
        }
    }

    /// Reads the body of a request to `/sink`; `nil` if its length is unknown or the connection ends.
    private func received(_ head: [UInt8], _ input: inout Input) -> Answer? {
        let fields = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
        if fields.contains("expect: 100-continue"), !write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...]) {
            return nil
        }
        let length = fields.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
        return length.flatMap { input.body(length: $0) }.flatMap { try? Answer($0) }
    }

    private func write(_ answer: Answer) -> Bool {
        guard write(answer.head[...]) else { return false }
        var written = 0
        while written < answer.fill {
            let bytes = Pattern.bytes(from: written, upTo: answer.fill - written)
            guard write(bytes) else { return false }
            written += bytes.count
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
