import Foundation

extension Data {
    /// After so many bytes a sample begins again.
    ///
    /// It is prime, so that a piece that is missing or in the wrong place is found: its size is hardly ever a multiple.
    static let samplePeriod = 65_537
    private static let period = {
        var random = SeededGenerator(seed: 65_537)
        return Data((0..<samplePeriod).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }()

    /// Bytes of a body.
    ///
    /// A loop over each of ten million would take seconds under the thread sanitizer.
    static func sample(_ count: Int) -> Data {
        var sample = Data(capacity: count + samplePeriod)
        while sample.count < count { sample += period }
        return sample.prefix(count)
    }
}
