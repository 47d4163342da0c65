/// The arguments of the command line.
enum Arguments: Equatable {
    case chat(host: String?, model: String?, prompt: String?)
    case help
    case unknown

    static let usage = """
        usage: chat [--host <url>] [--model <name>] [<prompt> ...]
          --host <url>    uses this host, such as https://api.openai.com, instead of a stand-in on this machine;
                          its key is in the environment variable OPENAI_API_KEY
          --model <name>  uses this model instead of the default one
        """

    init(_ words: [String]) {
        if words == ["--help"] || words == ["-h"] {
            self = .help
            return
        }
        var words = words[...]
        var options: [String: String] = [:]
        while let name = words.first, name.hasPrefix("-") {
            guard ["--host", "--model"].contains(name), words.count > 1 else {
                self = .unknown
                return
            }
            options[name] = words.dropFirst().first
            words = words.dropFirst(2)
        }
        let prompt = words.isEmpty ? nil : words.joined(separator: " ")
        self = .chat(host: options["--host"], model: options["--model"], prompt: prompt)
    }
}
