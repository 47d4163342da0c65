/// The bytes that the server sends: the same 1,048,573 bytes again and again.
///
/// Their number is prime, so a piece that is missing, repeated or in the wrong place is noticed.
public enum Pattern {
    /// The bytes before they are repeated.
    public static let bytes: [UInt8] = {
        var state: UInt64 = 1
        return (0..<1_048_573).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
    }()

    /// The bytes from a place on, at most so many, without a repetition.
    public static func bytes(from place: Int, upTo count: Int) -> ArraySlice<UInt8> {
        bytes.dropFirst(place % bytes.count).prefix(count)
    }

    /// Whether a body has these bytes at a place.
    public static func isEqual(_ piece: UnsafeRawBufferPointer, at place: Int) -> Bool {
        var done = 0
        while done < piece.count {
            let expected = bytes(from: place + done, upTo: piece.count - done)
            let isEqual = expected.withUnsafeBytes { expected in
                expected.elementsEqual(UnsafeRawBufferPointer(rebasing: piece[done..<(done + expected.count)]))
            }
            guard isEqual else { return false }
            done += expected.count
        }
        return true
    }
}
