// Prints where this package uses names that are newer than its platforms, and fails if it does. Arguments: the index of
// a debug build, the output of `swift package dump-package`, and symbol graphs of the toolchain.

import Foundation
import IndexStore

/// Names that may be used although the symbol graphs say that they are newer.
let exceptions = [
    "String.data(using:allowLossyConversion:)": "Foundation on Apple platforms has always had it.",
    "FixedWidthInteger.&*(_:_:)": "Before it was a requirement of the protocol, it was a function of an extension.",
]

/// The versions of platforms by lowercased name.
typealias Versions = [String: [Int]]

extension Versions {
    /// The platforms of which this has an older version, or none.
    func missing(_ others: Versions) -> Versions {
        others.filter { name, version in self[name].map { $0.lexicographicallyPrecedes(version) } ?? false }
    }
}

struct Package: Decodable {
    struct Platform: Decodable { var platformName, version: String }

    var platforms: [Platform]
    var versions: Versions {
        let pairs = platforms.map { ($0.platformName, $0.version.split(separator: ".").compactMap { Int($0) }) }
        return Versions(uniqueKeysWithValues: pairs)
    }
}

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { var precise: String }
        struct Availability: Decodable {
            struct Version: Decodable { var major: Int, minor: Int? }

            var domain: String?
            var introduced: Version?
        }

        var identifier: Identifier
        var pathComponents: [String]
        var availability: [Availability]?

        var name: String { pathComponents.joined(separator: ".") }
        var versions: Versions {
            let pairs = (availability ?? []).compactMap { entry in
                entry.introduced.map { (entry.domain?.lowercased() ?? "", [$0.major, $0.minor ?? 0]) }
            }
            return Versions(pairs) { $1 }
        }
    }

    var symbols: [Symbol]
}

/// A name in a source file.
struct Use: Hashable {
    var symbol: String
    var line: Int
}

extension String {
    init(_ text: indexstore_string_ref_t) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.data, count: text.length), as: UTF8.self)
    }
}

/// Collects what a function of the index passes to its callback.
func collected<Element>(_ apply: (UnsafeMutablePointer<[Element]>) -> Bool) -> [Element] {
    var all: [Element] = []
    _ = apply(&all)
    return all
}

/// The records of the files in a folder, by path: one for each file, without what the package depends on.
func records(of store: indexstore_t, in root: String) -> [String: String] {
    let units: [String] = collected {
        indexstore_store_units_apply_f(store, 0, $0) { context, name in
            context?.assumingMemoryBound(to: [String].self).pointee.append(String(name))
            return true
        }
    }
    let files = units.flatMap { unit -> [(String, String)] in
        guard let reader = indexstore_unit_reader_create(store, unit, nil) else { return [] }
        defer { indexstore_unit_reader_dispose(reader) }
        return collected {
            indexstore_unit_reader_dependencies_apply_f(reader, $0) { context, dependency in
                guard indexstore_unit_dependency_get_kind(dependency) == INDEXSTORE_UNIT_DEPENDENCY_RECORD
                else { return true }
                let path = String(indexstore_unit_dependency_get_filepath(dependency))
                let record = String(indexstore_unit_dependency_get_name(dependency))
                context?.assumingMemoryBound(to: [(String, String)].self).pointee.append((path, record))
                return true
            }
        }
    }
    let own = files.filter { path, _ in
        // The index keeps files that were removed. Dependencies are in a folder with a dot. The benchmarks are a
        // package with newer platforms.
        path.hasPrefix(root + "/") && !path.hasPrefix(root + "/.") && !path.hasPrefix(root + "/Tests/Benchmarks/")
            && FileManager.default.fileExists(atPath: path)
    }
    return Dictionary(own) { $1 }
}

func uses(in record: String, of store: indexstore_t) -> Set<Use> {
    guard let reader = indexstore_record_reader_create(store, record, nil) else { return [] }
    defer { indexstore_record_reader_dispose(reader) }
    let all: [Use] = collected {
        indexstore_record_reader_occurrences_apply_f(reader, $0) { context, occurrence in
            // Names that the compiler adds, such as `next(isolation:)` for a loop, depend on the platform.
            let roles = UInt64(indexstore_occurrence_get_roles(occurrence))
            guard roles & UInt64(INDEXSTORE_SYMBOL_ROLE_IMPLICIT) == 0 else { return true }
            var (line, column) = (UInt32(0), UInt32(0))
            indexstore_occurrence_get_line_col(occurrence, &line, &column)
            let symbol = String(indexstore_symbol_get_usr(indexstore_occurrence_get_symbol(occurrence)))
            context?.assumingMemoryBound(to: [Use].self).pointee.append(Use(symbol: symbol, line: Int(line)))
            return true
        }
    }
    return Set(all)
}

/// The versions that `#available` and `@available` around a line ask for.
///
/// The code is formatted: what is around a line is indented less, and an attribute is on the lines before.
func versions(around line: Int, of lines: [Substring]) -> Versions {
    var versions: Versions = [:]
    var indent = Int.max
    var hasAttributes = false
    for text in lines.prefix(line).reversed() where !text.allSatisfy(\.isWhitespace) {
        let depth = text.prefix { $0 == " " }.count
        let words = text.dropFirst(depth)
        guard depth <= indent else { continue }
        let isAttribute = depth == indent && hasAttributes && words.hasPrefix("@")
        if depth < indent || isAttribute || words.hasPrefix("guard #available") {
            for match in text.matches(of: /[@#]available\((.*?)\)/).flatMap({
                $0.1.matches(of: /(\w+) (\d+)(?:\.(\d+))?/)
            }) {
                versions[match.1.lowercased()] = [Int(match.2) ?? 0, match.3.flatMap { Int($0) } ?? 0]
            }
        }
        hasAttributes = depth < indent || isAttribute
        // A declaration of several lines begins with the line before its closing parenthesis.
        indent = words.hasPrefix(")") ? depth + 1 : depth
    }
    return versions
}

let arguments = CommandLine.arguments
let platforms = try JSONDecoder().decode(Package.self, from: Data(contentsOf: URL(fileURLWithPath: arguments[2])))
    .versions
var newer: [String: (name: String, versions: Versions)] = [:]
for path in arguments[3...] {
    for symbol in try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path))).symbols {
        let missing = platforms.missing(symbol.versions)
        guard !missing.isEmpty, exceptions[symbol.name] == nil else { continue }
        newer[symbol.identifier.precise] = (symbol.name, missing)
    }
}
guard !newer.isEmpty, let store = indexstore_store_create(arguments[1], nil) else {
    fatalError("The platforms, the symbol graphs or the index cannot be read.")
}

let root = FileManager.default.currentDirectoryPath
var (files, names, findings) = (0, 0, 0)
for (path, record) in records(of: store, in: root).sorted(by: { $0.key < $1.key }) {
    let uses = uses(in: record, of: store)
    (files, names) = (files + 1, names + uses.count)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for use in uses.sorted(by: { ($0.line, $0.symbol) < ($1.line, $1.symbol) }) {
        guard let (name, needed) = newer[use.symbol] else { continue }
        let missing = platforms.merging(versions(around: use.line, of: lines)) { $1 }.missing(needed)
        guard !missing.isEmpty else { continue }
        let list = missing.map { "\($0) \($1.map(String.init).joined(separator: "."))" }.sorted()
        print("\(path.dropFirst(root.count + 1)):\(use.line): \(name) needs \(list.joined(separator: ", "))")
        findings += 1
    }
}
print("\(files) files, \(names) names, \(findings) newer than the platforms of the package")
guard names > 0, findings == 0 else { exit(1) }
