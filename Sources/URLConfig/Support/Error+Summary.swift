/// An error that says what is wrong with an input and how to correct it.
package struct InvalidInput: Error {
    package let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

extension RequestError {
    /// Runs a function; the reasons of its errors of this type then begin with a place, such as the name of a part.
    static func within<Result: ~Copyable>(
        _ place: @autoclosure () -> String, _ work: () throws -> Result
    ) throws -> Result {
        do {
            return try work()
        } catch var error as Self {
            error.locate(place())
            throw error
        }
    }

    /// Runs a function; its error becomes a refusal, whose reason begins with a place.
    @inline(__always)
    static func refusing<Result>(
        _ place: @autoclosure () -> String, code: Code = .invalidRequest, _ work: () throws -> Result
    ) throws(RequestError) -> Result {
        do {
            return try work()
        } catch {
            throw .refused(place(), because: error, code: code)
        }
    }
}

extension Error {
    /// The kind of the error, one of few: the code of the library's and the session's errors, or the name of the type.
    var name: String {
        switch self as any Error {
        case let error as RequestError: error.code.rawValue
        case let error as URLError: error.code.name
        case let error as UnquotedError: error.name
        default: "\(type(of: self as any Error))"
        }
    }

    /// One sentence about an error, for a log.
    ///
    /// Without a description of its own, only the error's name is shown: its properties may contain secrets.
    var summary: String { summary(.standard) }

    /// The same with a redaction.
    func summary(_ redaction: Redaction) -> String {
        switch self {
        case let input as InvalidInput: input.reason
        case let error as EncodingError: error.summary
        case let error as DecodingError: error.summary(redaction, isHidden: false)
        case let error as URLError: "\(error.localizedDescription) (URLError \(error.code.rawValue))"
        case let error as RequestError: error.reason
        case is CancellationError: "the task was cancelled"
        case let error as any LocalizedError: error.errorDescription ?? "\(type(of: self))"
        case _ where type(of: self) is NSError.Type || self is CocoaError:
            "\(localizedDescription) (\((self as NSError).domain) \((self as NSError).code))"
        case let error as any CustomStringConvertible: error.description
        case _ where Mirror(reflecting: self).displayStyle == .enum && Mirror(reflecting: self).children.isEmpty:
            "\(type(of: self)).\(self)"
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

extension DecodingError {
    var context: Context {
        switch self {
        case .keyNotFound(_, let context), .valueNotFound(_, let context), .typeMismatch(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: localizedDescription)
        }
    }

    /// The coding path, including a missing key.
    var path: [any CodingKey] {
        if case .keyNotFound(let key, let context) = self { return context.codingPath + [key] }
        return context.codingPath
    }

    /// The place, what was found and what was expected, such as `users[3].email is null, expected String`.
    ///
    /// The decoder's description may quote the value: it is left out under a hidden name.
    ///
    /// - Parameter isHidden: Whether the value is hidden whatever its name is.
    func summary(_ redaction: Redaction, isHidden: Bool) -> String {
        let path = path.text(redaction)
        let isHidden = isHidden || context.codingPath.contains(where: redaction.hides)
        let said = isHidden ? "" : redaction.quote(context.debugDescription).shortened(to: 200)
        switch self {
        case .keyNotFound: return "\(path) is missing"
        case .valueNotFound where context.isPastEnd: return "\(path) is missing: the array ends before it"
        case .valueNotFound(let type, _): return "\(path) is null, expected \(Self.name(of: type))"
        case .typeMismatch(let type, _):
            let name = Self.name(of: type)
            if let found = context.found { return "\(path) is \(found), expected \(name)" }
            return "\(path) is not \(name)" + (said.isEmpty ? "" : ": \(said)")
        default:
            if isHidden { return "\(path): its value does not fit" }
            return context.codingPath.isEmpty ? said : "\(path): \(said)"
        }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: "\(type)"
        }
    }
}

extension DecodingError.Context {
    var isPastEnd: Bool { debugDescription.hasSuffix("is at end.") }

    /// The type that Foundation's decoders found.
    fileprivate var found: String? {
        guard let start = debugDescription.range(of: " but found ", options: .backwards)?.upperBound else { return nil }
        return switch debugDescription[start...] {
        case "a string instead.", "a string/data instead.": "a string"
        case "number instead.", "a number instead.": "a number"
        case "bool instead.", "a boolean instead.", "a bool instead.": "a boolean"
        case "an array instead.": "an array"
        case "a dictionary instead.": "an object"
        case "null instead.", "null value instead.": "null"
        default: nil
        }
    }
}

extension URLError {
    /// An error with a reason that a person can read.
    ///
    /// - Parameter others: Other values of the user info.
    init(
        _ code: Code, _ reason: String, url: URL? = nil, cause: (any Error)? = nil, others: [String: Any] = [:]
    ) {
        var information = others
        information[NSLocalizedDescriptionKey] = reason
        information[NSURLErrorFailingURLErrorKey] = url
        information[NSUnderlyingErrorKey] = cause
        self.init(code, userInfo: information)
    }
}

extension URLError.Code {
    /// The name in Swift of the codes that the library uses; otherwise the number.
    fileprivate var name: String { Self.names[self] ?? "URLError(\(rawValue))" }

    private static let names: [Self: String] = [
        .badServerResponse: "badServerResponse", .badURL: "badURL", .cancelled: "cancelled",
        .cannotConnectToHost: "cannotConnectToHost", .cannotCreateFile: "cannotCreateFile",
        .cannotDecodeContentData: "cannotDecodeContentData", .cannotFindHost: "cannotFindHost",
        .cannotMoveFile: "cannotMoveFile", .cannotOpenFile: "cannotOpenFile",
        .cannotParseResponse: "cannotParseResponse", .cannotWriteToFile: "cannotWriteToFile",
        .dnsLookupFailed: "dnsLookupFailed", .networkConnectionLost: "networkConnectionLost",
        .notConnectedToInternet: "notConnectedToInternet", .requestBodyStreamExhausted: "requestBodyStreamExhausted",
        .resourceUnavailable: "resourceUnavailable", .secureConnectionFailed: "secureConnectionFailed",
        .serverCertificateUntrusted: "serverCertificateUntrusted",
        .timedOut: "timedOut", .userAuthenticationRequired: "userAuthenticationRequired",
    ]
}
