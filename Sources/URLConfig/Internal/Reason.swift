/// What is wrong with an input, in words that say what to do: the underlying reason of a ``RequestError``.
struct Reason: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
