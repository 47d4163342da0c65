extension RequestError {
    /// Runs a function; the reasons of its errors of this type then begin with a place, such as the name of a part.
    static func within<Result: ~Copyable>(_ place: String, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch var error as Self {
            error.reason = "\(place): \(error.reason)"
            throw error
        }
    }
}
