import Benchmark
import URLConfig

extension URLRequest.Config {
    static let api = Self(host: "https://api.example.com/v2")
}

/// A contest in building one request; ends the process if the ways do not build the same.
func build(
    _ name: String, ours: @escaping () -> URLRequest,
    rivals: [(name: String, target: Double?, build: () -> URLRequest)]
) {
    let expected = ours().parts
    for rival in rivals where rival.build().parts != expected {
        fatalError("\(name): '\(rival.name)' builds\n\(rival.build().parts), but ours is\n\(expected)")
    }
    contest(
        name, batch: 200, ours: { blackHole(ours()) },
        rivals: rivals.map { rival in
            Rival(name: rival.name, target: rival.target) { blackHole(rival.build()) }
        })
}

extension URLRequest {
    fileprivate var parts: [String] {
        [httpMethod ?? "", url?.absoluteString ?? ""]
            + (allHTTPHeaderFields ?? [:]).map { "\($0.key): \($0.value)" }.sorted()
            + [String(decoding: httpBody ?? Data(), as: UTF8.self)]
    }
}
