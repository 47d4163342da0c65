/// Finds who has set each value of a configuration: each stage, such as a preset, is compared with the one before it.
enum Explanation {
    /// A member of a configuration, as `explain` and `dump` show it.
    struct Setting {
        let name: String
        /// Without secrets; `nil` if it is not set.
        let shown: String?
        /// Equal for equal values; `nil` for a closure and other values that cannot be compared.
        var identity: AnyHashable?
    }

    /// What is sent, or why it cannot be sent, and the values that are not built-in.
    ///
    /// - Parameter stages: The built-in values, the stages of the caller, and `test`, which replaces no closures.
    static func table(_ request: URLRequest, _ redaction: Redaction, _ stages: [(name: String, [Setting])]) -> String {
        var (settings, sources) = (stages[0].1, [String: (name: String, note: String)]())
        for (stage, new) in stages.dropFirst() {
            let old = Dictionary(settings.map { ($0.name, $0) }) { first, _ in first }
            let names = Set(new.map(\.name))
            settings = new + settings.filter { !names.contains($0.name) }.map { Setting(name: $0.name, shown: nil) }
            for setting in settings {
                let (before, source) = (old[setting.name], sources[setting.name])
                let isComparable = setting.identity != nil && before?.identity != nil
                if isComparable ? setting.identity != before?.identity : setting.shown != before?.shown {
                    sources[setting.name] = (stage, source.map { ", instead of \($0.name)" } ?? "")
                } else if let source, setting.shown != nil, stage != "test",
                    !isComparable || setting.identity?.base is Changing
                {
                    sources[setting.name] = (source.name, " or later")
                }
            }
        }
        var title = request.summary(redaction)
        do { try request.checkSendable() } catch { title += ": " + redaction.masked(error) }
        var rows = [["NAME", "VALUE", "SOURCE"]]
        for case (let setting, let source?) in settings.map({ ($0, sources[$0.name]) }) {
            rows.append([setting.name, setting.shown ?? "none", source.name + source.note])
        }
        rows = rows.map { $0.map { $0.shortened(to: 80) } }
        let widths = (0...1).map { column in rows.map { $0[column].count + 2 }.max() ?? 0 }
        return rows.reduce(into: title.shortened(to: 1000) + "\n") { table, row in
            table += "\n" + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined() + row[2]
        }
    }
}

/// In place of a value that is another one each time.
private struct Changing: Hashable {}

extension [Explanation.Setting] {
    /// The same settings, in which all values are equal that are others when they are made again.
    func marking(differencesFrom again: Self) -> Self {
        let again = Dictionary(again.map { ($0.name, $0.identity) }) { first, _ in first }
        return map { setting in
            var setting = setting
            if setting.identity != again[setting.name, default: nil] { setting.identity = Changing() }
            return setting
        }
    }
}

extension Explanation.Setting {
    init<Value: Hashable>(_ name: String, _ value: Value?, shown: String? = nil) {
        self.init(name: name, shown: value.map { shown ?? ($0 as? Duration)?.shown ?? "\($0)" }, identity: value)
    }

    init(_ name: String, isSet: Bool) { self.init(name: name, shown: isSet ? "set" : nil) }

    /// Only the type is shown, because a value of the app may contain secrets.
    init(_ name: String, type value: Any?) {
        let identity = value.flatMap {
            type(of: $0) is AnyClass ? ObjectIdentifier($0 as AnyObject) as AnyHashable : $0 as? AnyHashable
        }
        self.init(name: name, shown: value.map { "\(type(of: $0))" }, identity: identity)
    }
}
