/// A descriptor of an open file, which is closed with this value.
struct Descriptor: ~Copyable {
    /// Negative if the file could not be opened.
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    /// Closes the descriptor.
    ///
    /// - Returns: 0, or the error of what was written before: some file systems report it only here.
    consuming func closed() -> Int32 {
        let error = close(number) == 0 ? 0 : errno
        discard self
        // After EINTR the descriptor is closed on Linux and Apple platforms.
        return error == EINTR ? 0 : error
    }

    deinit {
        if number >= 0 { close(number) }
    }
}
