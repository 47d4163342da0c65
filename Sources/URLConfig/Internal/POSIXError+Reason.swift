extension POSIXError {
    /// An error of the system.
    init(_ error: Int32) {
        self.init(POSIXErrorCode(rawValue: error) ?? .EIO)
    }

    /// The system's words for an error, such as "No such file or directory".
    static func reason(_ error: Int32) -> String { String(cString: strerror(error)) }
}

extension URLError {
    /// An error of the system that concerns the disk.
    ///
    /// - Parameter action: What failed, such as "The file cannot be written".
    init(_ code: Code, _ action: String, _ error: Int32) {
        self.init(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "\(action): \(POSIXError.reason(error))",
                NSUnderlyingErrorKey: POSIXError(error),
            ])
    }
}
