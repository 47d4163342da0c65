import Foundation

/// The rows about whole calls: `CallBenchmarks [filter]`, where the filter is how the name of a work begins.
///
/// `CallBenchmarks peak <way> <URL>` is what the rows about memory start for each way; see ``BodyInMemory``.
@main
enum CallBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "peak", arguments.count == 3 {
            return try await BodyInMemory.printPeak(way: arguments[2], url: arguments[3])
        }
        let filter = arguments.first ?? ""
        let server = try Server()
        for contest in SmallCall.all where contest.works.contains(where: { $0.hasPrefix(filter) }) {
            try await contest.run(on: server)
        }
        try BodyInMemory(filter: filter).run(on: server)
    }
}
