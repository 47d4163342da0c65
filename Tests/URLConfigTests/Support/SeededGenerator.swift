import Foundation

/// Random numbers that are the same in every run (SplitMix64), so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// A generator for a test that is different in each run.
    ///
    /// It prints its seed. To repeat a run: `TEST_SEED=7 swift test --filter NameOfTheTest`.
    static func ofThisRun(_ test: String = #function) -> Self {
        let given = ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: .min ... .max)
        print("TEST_SEED=\(seed) for \(test)")
        return Self(seed: seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
