/// Decides what `dump` and debuggers show. The witness in the extension is no public symbol of each conforming type.
protocol Mirrored: CustomReflectable {
    var mirror: Mirror { get }
}

extension Mirrored {
    public var customMirror: Mirror { mirror }
}
