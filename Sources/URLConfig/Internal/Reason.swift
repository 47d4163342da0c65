/// What is wrong with an input and what to do about it.
struct Reason: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
