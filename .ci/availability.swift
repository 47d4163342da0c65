// Prints where this package uses names that are newer than its platforms, or names of its own that are compiled on Linux
// only in code that is not, and fails if it does. Arguments: the index of a debug build, the output of `swift package
// dump-package`, and symbol graphs of the toolchain.

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
    var name: Substring
    var line: Int
    var isDefinition: Bool
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
            let symbol = indexstore_occurrence_get_symbol(occurrence)
            let use = Use(
                symbol: String(indexstore_symbol_get_usr(symbol)),
                name: String(indexstore_symbol_get_name(symbol)).prefix { $0 != "(" }, line: Int(line),
                isDefinition: roles & UInt64(INDEXSTORE_SYMBOL_ROLE_DEFINITION) != 0)
            context?.assumingMemoryBound(to: [Use].self).pointee.append(use)
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

/// Whether each line of a file is compiled on Linux only.
func areLinuxOnly(_ lines: [Substring]) -> [Bool] {
    var conditions: [Bool] = []
    return lines.map { line in
        let words = line.drop(while: \.isWhitespace)
        if words.hasPrefix("#endif") { _ = conditions.popLast() }
        if words.hasPrefix("#else"), conditions.popLast() != nil { conditions.append(false) }
        if words.hasPrefix("#if") {
            let isForLinux = words.contains(/[^!](canImport\(FoundationNetworking\)|os\(Linux\))/)
            conditions.append(isForLinux && !words.contains("||"))
        }
        return conditions.contains(true)
    }
}

extension [Bool] {
    /// Whether a line, from 1, is compiled on Linux only; an old index may have more lines than the file.
    func isTrue(at line: Int) -> Bool { indices.contains(line - 1) && self[line - 1] }
}

/// The names that lines declare.
func declarations(in lines: [Substring]) -> [Substring] {
    lines.flatMap { $0.matches(of: /\b(?:func|var|let|case|struct|class|enum|actor|typealias) (\w+)/).map(\.1) }
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
var (names, findings) = (0, 0)
let files = try records(of: store, in: root).sorted { $0.key < $1.key }.map { path, record in
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let uses = uses(in: record, of: store).sorted { ($0.line, $0.symbol) < ($1.line, $1.symbol) }
    return (path: path.dropFirst(root.count + 1), lines: lines, isLinuxOnly: areLinuxOnly(lines), uses: uses)
}
// What has a counterpart for other platforms, which this build does not see, is declared by name there.
var everywhere = Set<Substring>()
for file in files {
    everywhere.formUnion(declarations(in: zip(file.lines, file.isLinuxOnly).filter { !$1 }.map(\.0)))
}
var linuxOnly = Set<String>()
for file in files {
    for use in file.uses where use.isDefinition && file.isLinuxOnly.isTrue(at: use.line) {
        if !everywhere.contains(use.name) { linuxOnly.insert(use.symbol) }
    }
}
for (path, lines, isLinuxOnly, uses) in files {
    names += uses.count
    for use in uses {
        if linuxOnly.contains(use.symbol), !isLinuxOnly.isTrue(at: use.line) {
            print("\(path):\(use.line): \(use.name) exists on Linux only")
            findings += 1
        }
        guard let (name, needed) = newer[use.symbol] else { continue }
        let missing = platforms.merging(versions(around: use.line, of: lines)) { $1 }.missing(needed)
        guard !missing.isEmpty else { continue }
        let list = missing.map { "\($0) \($1.map(String.init).joined(separator: "."))" }.sorted()
        print("\(path):\(use.line): \(name) needs \(list.joined(separator: ", "))")
        findings += 1
    }
}
print("\(files.count) files, \(names) names, \(linuxOnly.count) of Linux only, \(findings) findings")
guard names > 0, !linuxOnly.isEmpty, findings == 0 else { exit(1) }
