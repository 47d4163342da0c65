/// A type that decides what `dump` and debuggers show, without a public `customMirror` of its own.
protocol Mirrored: CustomReflectable {
    var mirror: Mirror { get }
}

extension Mirrored {
    /// What `dump` and debuggers show.
    public var customMirror: Mirror { mirror }
}
