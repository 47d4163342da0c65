extension POSIXError {
    /// Calls a function of the system, again if a signal interrupts it.
    ///
    /// - Throws: The reason, if the result is negative.
    static func call<Result: SignedInteger>(_ call: () -> Result) throws(POSIXError) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            let code = POSIXErrorCode(rawValue: errno) ?? .EIO
            guard code == .EINTR else { throw POSIXError(code) }
        }
    }

    /// Removes a name of a file, if it exists.
    static func unlink(_ path: String) throws(POSIXError) {
        do {
            _ = try call { Foundation.unlink(path) }
        } catch let error where error.code == .ENOENT {
            // There is nothing to remove.
        }
    }
}
