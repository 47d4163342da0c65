/// An error that says what is wrong with an input and how to correct it.
struct Reason: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
