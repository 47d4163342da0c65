// Prints the public symbols of the symbol graphs that are named as arguments, one line for each, sorted:
// the type that contains the symbol, and its declaration. A type comes with its conformances.

import Foundation

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { var precise: String }
        struct Kind: Decodable { var identifier: String }
        struct Fragment: Decodable { var spelling: String }
        struct Extension: Decodable { var constraints: [Constraint]? }

        var identifier: Identifier
        var kind: Kind
        var pathComponents: [String]
        var declarationFragments: [Fragment]
        var swiftExtension: Extension?
    }
    struct Constraint: Decodable {
        var kind, lhs, rhs: String
        var text: String { lhs + (kind == "sameType" ? " == " : ": ") + rhs }
    }
    struct Relationship: Decodable {
        var kind, source, target: String
        var targetFallback: String?
        var swiftConstraints: [Constraint]?
    }

    var symbols: [Symbol]
    var relationships: [Relationship]
}

func list(_ constraints: [Graph.Constraint]) -> String {
    constraints.map(\.text).sorted().joined(separator: ", ")
}

let graphs = try CommandLine.arguments.dropFirst().map {
    try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
}
let symbols = graphs.flatMap(\.symbols)
let relationships = graphs.flatMap(\.relationships)
let names = Dictionary(symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) }) { $1 }
/// Every type conforms to these, unless it says otherwise.
let implied: Set = ["Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"]
var conformances: [String: Set<String>] = [:]
for relationship in relationships where relationship.kind == "conformsTo" {
    guard let name = names[relationship.target] ?? relationship.targetFallback, !implied.contains(name)
    else { continue }
    let conditions = relationship.swiftConstraints.map { " where " + list($0) } ?? ""
    let short = name.hasPrefix("Swift.") ? String(name.dropFirst(6)) : name
    conformances[relationship.source, default: []].insert(short + conditions)
}
let defaults = Set(relationships.filter { $0.kind == "defaultImplementationOf" }.map(\.source))

let kindsOfTypes: Set = ["swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.actor"]
let rows = symbols.map { symbol in
    let isType = kindsOfTypes.contains(symbol.kind.identifier)
    let owner = symbol.pathComponents.dropLast(isType ? 0 : 1).joined(separator: ".")
    var declaration = symbol.declarationFragments.map(\.spelling).joined()
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if let constraints = symbol.swiftExtension?.constraints, !isType {
        declaration += (declaration.contains(" where ") ? ", " : " where ") + list(constraints)
    }
    if let conformances = conformances[symbol.identifier.precise] {
        declaration += " [" + conformances.sorted().joined(separator: ", ") + "]"
    }
    if defaults.contains(symbol.identifier.precise) { declaration += " { default implementation }" }
    // A type comes before its members.
    return (key: [owner, isType ? "0" : "1", declaration], line: owner + ": " + declaration)
}
for row in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) { print(row.line) }
