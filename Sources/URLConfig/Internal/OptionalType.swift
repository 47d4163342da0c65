/// All `Optional` types.
protocol OptionalType {
    static var wrapped: any Any.Type { get }
    static var absence: Self { get }
}

extension Optional: OptionalType {
    static var wrapped: any Any.Type { Wrapped.self }
    static var absence: Self { nil }
}
