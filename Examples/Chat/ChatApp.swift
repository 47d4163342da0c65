import URLConfig

/// A chat with a language model on the command line: the reply is printed as it arrives.
@main
struct ChatApp {
    private static let prompt = "What are the stages of a call?"

    static func main() async {
        // Errors are printed below.
        URLSession.Config.defaultLogger = nil
        do {
            switch Arguments(Array(CommandLine.arguments.dropFirst())) {
            case .help:
                print(Arguments.usage)
            case .unknown:
                complain(Arguments.usage)
                exit(2)
            case .chat(nil, let model, let prompt):
                try await StandIn.run { host in
                    print("A stand-in for the API is listening on \(host).")
                    let api = URLRequest.Config.chat(host: host, key: StandIn.key)
                    let client = ChatClient(api: api, model: model ?? StandIn.model)
                    print("Its models: \(try await client.models().joined(separator: ", "))")
                    try await ask(prompt ?? Self.prompt, client)
                    try await showErrors(of: client)
                }
            case .chat(let host?, let model, let prompt):
                guard let key = ProcessInfo.processInfo.environment["OPENAI_API_KEY"], !key.isEmpty else {
                    complain("chat: \(host) needs a key; set the environment variable OPENAI_API_KEY")
                    exit(2)
                }
                let api = URLRequest.Config.chat(host: host, key: key)
                // Throws for an invalid host or key before anything is printed.
                _ = try api.request()
                try await ask(prompt ?? Self.prompt, ChatClient(api: api, model: model ?? "gpt-4o-mini"))
            }
        } catch {
            // The description of a URLError is its whole user info.
            complain("chat: \((error as? URLError)?.localizedDescription ?? "\(error)")")
            exit(1)
        }
    }

    /// Prints the pieces of a reply as they arrive.
    private static func ask(_ prompt: String, _ client: ChatClient) async throws {
        print("\n> \(prompt)")
        let reply = try await client.reply(to: [Message(role: .user, content: prompt)])
        var (finishReason, usage): (String?, Chunk.Usage?)
        do {
            // Also if the reply breaks off.
            defer { print() }
            for try await chunk in reply {
                print(chunk.text ?? "", terminator: "")
                // A terminal shows only whole lines, and a pipe nothing before the end.
                fflush(nil)
                finishReason = chunk.finishReason ?? finishReason
                usage = chunk.usage ?? usage
            }
        }
        let tokens = usage.map { ", \($0.promptTokens) tokens read, \($0.completionTokens) written" } ?? ""
        print("[\(finishReason ?? "no finish reason")\(tokens)]")
    }

    /// Shows how a call fails, before the reply and in the middle of it.
    private static func showErrors(of client: ChatClient) async throws {
        do {
            var stranger = client
            stranger.api.authorization = .bearer("wrong")
            try await ask("Do you know me?", stranger)
            throw Surprise("a wrong key is accepted")
        } catch let error as APIError where error.status == .unauthorized {
            print("Refused: \(error)")
        }
        do {
            var overloaded = client
            overloaded.model = StandIn.failingModel
            try await ask("Are you well?", overloaded)
            throw Surprise("the model that fails has finished")
        } catch let error as APIError where error.status == nil {
            print("Broken off: \(error)")
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

/// A response with other content than expected.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
