/// A value of a query item or a form field, written as its raw value, or else as its description.
///
/// An enum with raw values only declares its conformance.
///
/// ```swift
/// enum Sorting: String, QueryValue { case newest, oldest }
/// $0.query["sort"] = Sorting.newest
/// ```
public protocol QueryValue: CustomStringConvertible, Sendable {}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value.
    public var description: String { rawValue.textInURL }
}

extension QueryValue {
    func item(_ name: String) -> URLRequest.Query.Item {
        // The most common types first: a cast takes as long as the rest of this function.
        if Self.self == Int.self || Self.self == String.self { return .init(name: name, text: description) }
        if let raw = (self as? any RawRepresentable)?.rawValue as? any QueryValue { return raw.item(name) }
        guard let list = self as? [any QueryValue] else {
            var item = URLRequest.Query.Item(name: name, text: textInURL)
            if let date = self as? Date { item.encode(date) }
            // As in JSON, where the encoder refuses it or has a text for it.
            if let number = self as? any BinaryFloatingPoint, !number.isFinite { item.encode(Double(number)) }
            if (self as? Decimal)?.isNaN == true { item.encode(Double.nan) }
            return item
        }
        let items = list.map { $0.item(name) }
        var item = URLRequest.Query.Item(name: name, list: items.flatMap(\.values))
        guard items.contains(where: { $0.encoded != nil }) else { return item }
        item.encoded = .init { encoder throws(InvalidInput) in
            var values: [String] = []
            for item in items { values += try item.resolved(encoder).flatMap(\.values) }
            return [.init(name: name, list: values)]
        }
        return item
    }
}

extension CustomStringConvertible {
    /// A date in ISO 8601, a URL as absolute, anything else as its description.
    var textInURL: String {
        switch self {
        case let date as Date: date.formatted(.iso8601)
        case let url as URL: url.absoluteString
        default: description
        }
    }
}

extension Array: QueryValue where Element: QueryValue {}
extension String: QueryValue, RequestBody.JSON {}
extension Substring: QueryValue {}
extension Bool: QueryValue, RequestBody.JSON {}
extension Int: QueryValue, RequestBody.JSON {}
extension Int8: QueryValue, RequestBody.JSON {}
extension Int16: QueryValue, RequestBody.JSON {}
extension Int32: QueryValue, RequestBody.JSON {}
extension Int64: QueryValue, RequestBody.JSON {}
extension UInt: QueryValue, RequestBody.JSON {}
extension UInt8: QueryValue, RequestBody.JSON {}
extension UInt16: QueryValue, RequestBody.JSON {}
extension UInt32: QueryValue, RequestBody.JSON {}
extension UInt64: QueryValue, RequestBody.JSON {}
extension Double: QueryValue, RequestBody.JSON {}
extension Float: QueryValue, RequestBody.JSON {}
extension Decimal: QueryValue, RequestBody.JSON {}
extension UUID: QueryValue, RequestBody.JSON {}
extension URL: QueryValue, RequestBody.JSON {}
extension Date: QueryValue, RequestBody.JSON {}
