/// A value that a query item can take.
///
/// A type with a raw value that conforms, or with a description that fits, only declares its conformance.
///
/// ```swift
/// enum Sorting: String, QueryValue { case newest, oldest }
/// $0.query["sort"] = Sorting.newest
/// ```
public protocol QueryValue: Sendable {
    /// The value as text, not yet percent-encoded.
    var queryText: URLRequest.Query.Text { get }
}

extension QueryValue where Self: CustomStringConvertible {
    /// The description, as one value.
    public var queryText: URLRequest.Query.Text { .one(description) }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value.
    public var queryText: URLRequest.Query.Text { rawValue.queryText }
}

extension URL: QueryValue {
    /// The absolute URL.
    public var queryText: URLRequest.Query.Text { .one(absoluteString) }
}

extension Array: QueryValue where Element: QueryValue {
    /// The values of the elements, one after the other.
    public var queryText: URLRequest.Query.Text { .list(flatMap(\.queryText.values)) }
}

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Double: QueryValue {}
extension Float: QueryValue {}
extension Decimal: QueryValue {}
extension UUID: QueryValue {}
