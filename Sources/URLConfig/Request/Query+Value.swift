extension URLRequest.Query.Value where Self: CustomStringConvertible {
    /// The description, as one value.
    public var queryText: URLRequest.Query.Text { .one(description) }
}

extension URLRequest.Query.Value where Self: RawRepresentable, RawValue: URLRequest.Query.Value {
    /// The raw value.
    public var queryText: URLRequest.Query.Text { rawValue.queryText }
}

extension String: URLRequest.Query.Value {
    /// The text itself.
    public var queryText: URLRequest.Query.Text { .one(self) }
}

extension URL: URLRequest.Query.Value {
    /// The absolute URL.
    public var queryText: URLRequest.Query.Text { .one(absoluteString) }
}

extension Array: URLRequest.Query.Value where Element: URLRequest.Query.Value {
    /// The values of the elements, one after the other.
    public var queryText: URLRequest.Query.Text {
        .list(
            flatMap { element in
                switch element.queryText {
                case .one(let text): [text]
                case .list(let texts): texts
                }
            })
    }
}

extension Substring: URLRequest.Query.Value {}
extension Bool: URLRequest.Query.Value {}
extension Int: URLRequest.Query.Value {}
extension Int8: URLRequest.Query.Value {}
extension Int16: URLRequest.Query.Value {}
extension Int32: URLRequest.Query.Value {}
extension Int64: URLRequest.Query.Value {}
extension UInt: URLRequest.Query.Value {}
extension UInt8: URLRequest.Query.Value {}
extension UInt16: URLRequest.Query.Value {}
extension UInt32: URLRequest.Query.Value {}
extension UInt64: URLRequest.Query.Value {}
extension Double: URLRequest.Query.Value {}
extension Float: URLRequest.Query.Value {}
extension Decimal: URLRequest.Query.Value {}
extension UUID: URLRequest.Query.Value {}
