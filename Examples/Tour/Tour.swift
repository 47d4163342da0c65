import URLConfig

/// Shows what the library does, and checks it with a server on this machine.
@main
struct Tour {
    private static let steps: [Step] = [
        .presetGet, .mixedPost, .notFound, .replacedCredential, .refusedCredential, .refresh, .retry, .redirect,
        .deadline, .cache, .decoder, .typedRequests, .redactedLog, .curl,
    ]

    static func main() async {
        // Each step prints its own failures, and one step is about the log.
        URLSession.Config.defaultLogger = nil
        do {
            let failed = try await Server.run { server, host in
                URLRequest.Config.defaultHost = host + "/v2"
                URLSession.Config[host: host] = .api
                print("A server is listening on \(host). The presets and models are in Examples/Tour.")
                return await failures(on: server)
            }
            print(failed == 0 ? "\nAll \(steps.count) steps passed." : "\n\(failed) of \(steps.count) steps failed.")
            exit(failed == 0 ? 0 : 1)
        } catch {
            print("The server cannot be started: \(error)")
            exit(1)
        }
    }

    private static func failures(on server: Server) async -> Int {
        var failures = 0
        for (index, step) in steps.enumerated() {
            let passed = await step.passes(as: index + 1, with: server)
            if !passed { failures += 1 }
        }
        return failures
    }
}
