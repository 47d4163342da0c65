/// A value that is ignored when two of its owners are compared.
@propertyWrapper
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    var wrappedValue: Value

    static func == (one: Self, other: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
