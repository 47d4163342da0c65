import Foundation

/// The rows about whole calls: `CallBenchmarks [filter]`, where the filter is how the name of a work begins.
///
/// `CallBenchmarks peak <work> <URL>` is what the rows about memory start for each way; see ``PeakMemory``.
@main
enum CallBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "peak", arguments.count == 3, let url = URL(string: arguments[3]) {
            if try await BodyInMemory.printGrowth(way: arguments[2], url: url) { return }
            if try await WaitingCalls.printGrowth(work: arguments[2], url: url) { return }
            return try await TransferInMemory.printGrowth(work: arguments[2], url: url)
        }
        let filter = arguments.first ?? ""
        let server = try Server()
        for contest in SmallCall.all where contest.works.contains(where: { $0.hasPrefix(filter) }) {
            try await contest.run(on: server)
        }
        for contest in CachedCall.all where contest.work.hasPrefix(filter) { try await contest.run(on: server) }
        for contest in ObservedCall.all where contest.work.hasPrefix(filter) { try await contest.run() }
        if LargeStream.work.hasPrefix(filter) { try await LargeStream().run(on: server) }
        for contest in Parsing.all where contest.work.hasPrefix(filter) { try await contest.run() }
        try BodyInMemory(filter: filter).run(on: server)
        try WaitingCalls().run(on: server, filter: filter)
        for contest in TransferInMemory.all where contest.work.hasPrefix(filter) { try contest.run(on: server) }
    }
}
