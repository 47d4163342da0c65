extension ResponseReader where Output: Decodable {
    /// The reader of requests that name none: ``text`` for a `String`, ``data`` for `Data`, optional ones included, and
    /// ``json`` for other types.
    public static var automatic: Self {
        let (text, data) = (ResponseReader<String>.text, ResponseReader<Data>.data)
        return text as? Self ?? data as? Self ?? text.map(Optional.some) as? Self ?? data.map(Optional.some) as? Self
            ?? json
    }

    /// A model from the content of a 2xx response, with the ``DataResponse/Config/defaultDecoder`` of that time.
    public static var json: Self { Self { try $0.decode() } }

    /// A model from the content of a 2xx response, with a JSON decoder such as a static member of `JSONDecoder`.
    public static func json(decoder: JSONDecoder) -> Self { decoded(by: decoder) }

    /// A model from the content of a 2xx response, with any decoder, such as a `PropertyListDecoder`.
    public static func decoded(by decoder: some ResponseDecoder) -> Self { Self { try $0.decode(decoder: decoder) } }
}

extension ResponseReader where Output == String {
    /// The content of a 2xx response as text, in the character set that `Content-Type` names, by default UTF-8.
    public static var text: Self { Self { try $0.text() } }

    /// The content of a 2xx response as text, in an encoding that overrides the one of `Content-Type`.
    public static func text(encoding: String.Encoding) -> Self { Self { try $0.text(encoding: encoding) } }
}

extension ResponseReader where Output == Data {
    /// The content of a 2xx response as it is.
    public static var data: Self { Self(\.data) }
}

extension ResponseReader where Output == Void {
    /// A 2xx status; the content is ignored.
    public static var none: Self { Self { _ in } }
}
