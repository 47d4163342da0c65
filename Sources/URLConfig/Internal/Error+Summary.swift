extension Error {
    /// One sentence about an error, for a log.
    ///
    /// Without a description of its own, only the error's name is shown: its properties may contain secrets.
    var summary: String { summary(.standard) }

    /// The same with a redaction.
    func summary(_ redaction: Redaction) -> String {
        switch self {
        case let reason as Reason: reason.reason
        case let error as EncodingError: error.summary
        case let error as DecodingError: error.summary(redaction)
        case let error as URLError: "\(error.localizedDescription) (URLError \(error.code.rawValue))"
        case let error as RequestError: error.reason
        case let error as any LocalizedError: error.errorDescription ?? "\(type(of: self))"
        case _ where type(of: self) is NSError.Type || self is CocoaError:
            "\(localizedDescription) (\((self as NSError).domain) \((self as NSError).code))"
        case let error as any CustomStringConvertible: error.description
        case _ where Mirror(reflecting: self).children.isEmpty: "\(type(of: self)).\(self)"
        default: "\(type(of: self))"
        }
    }
}

extension EncodingError {
    fileprivate var summary: String {
        switch self {
        case .invalidValue(_, let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\(context.codingPath.text(.none)): \(context.debugDescription)"
        @unknown default: localizedDescription
        }
    }
}
