/// A property that `==` and `hash` of its owner ignore.
@propertyWrapper
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    var wrappedValue: Value

    static func == (one: Self, other: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
