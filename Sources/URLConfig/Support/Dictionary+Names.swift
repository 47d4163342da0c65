extension Dictionary where Key == String {
    /// The members in the order of their names.
    ///
    /// Only the names are sorted, because the code that sorts is compiled for each type: 3 kB.
    func sortedByName() -> [Element] { keys.sorted().compactMap { name in self[name].map { (name, $0) } } }
}
