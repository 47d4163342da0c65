/// The arguments of the command line.
enum Arguments: Equatable {
    case localCopy
    case host(String)
    case help
    case unknown

    static let usage = """
        usage: dogs [--host <url>]
          --host <url>  uses this host, such as https://dogapi.dog, instead of a copy of the API on this machine
        """

    init(_ words: [String]) {
        if words.isEmpty {
            self = .localCopy
        } else if words == ["--help"] || words == ["-h"] {
            self = .help
        } else if words.count == 2, words[0] == "--host" {
            self = .host(words[1])
        } else {
            self = .unknown
        }
    }
}
