import BenchmarkContent
import Foundation

/// Counts the bytes of a body as they arrive, and compares them with the server's if that is wanted.
struct Arrival {
    private(set) var count = 0
    let isCompared: Bool

    mutating func receive(_ piece: Data) {
        if isCompared {
            let isEqual = piece.withUnsafeBytes { Pattern.isEqual($0, at: count) }
            require(isEqual, "other bytes than those of the server, after \(count)")
        }
        count += piece.count
    }
}
