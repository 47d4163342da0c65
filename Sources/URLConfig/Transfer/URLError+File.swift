extension URLError {
    /// An error about a file.
    ///
    /// - Parameters:
    ///   - reason: What cannot be done, with the name of the file.
    ///   - cause: The system's reason, if the system refused it.
    init(_ code: Code, _ reason: String, _ cause: POSIXError? = nil) {
        let systemReason = cause.map { ": " + String(cString: strerror($0.code.rawValue)) } ?? ""
        var information: [String: Any] = [NSLocalizedDescriptionKey: reason + systemReason]
        information[NSUnderlyingErrorKey] = cause
        self.init(code, userInfo: information)
    }
}
