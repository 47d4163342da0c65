/// A value behind one reference, which copies share until one of them is changed.
///
/// A copy of a large value, and an `async` function that keeps one, are much more code and time than a reference.
///
/// `@unchecked Sendable` is safe because `value` is changed only while nothing else has a reference to the storage.
@propertyWrapper
@dynamicMemberLookup
struct Shared<Value: Sendable>: Sendable {
    private final class Storage: @unchecked Sendable {
        // What may change it has the only reference, so two accesses never overlap. Each check would cost a call time.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    init(wrappedValue: Value) {
        storage = Storage(wrappedValue)
    }

    var wrappedValue: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { copy() }
            yield &storage.value
        }
    }

    subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { storage.value[keyPath: part] }

    subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Part {
        get { storage.value[keyPath: part] }
        _modify { yield &wrappedValue[keyPath: part] }
    }

    @inline(never)
    private mutating func copy() { storage = Storage(storage.value) }
}

/// A property that `==` and `hash` of its owner ignore.
@propertyWrapper
struct Uncompared<Value: Sendable>: Hashable, Sendable {
    var wrappedValue: Value

    static func == (one: Self, other: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
