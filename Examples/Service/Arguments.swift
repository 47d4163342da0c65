/// The arguments of the command line.
enum Arguments: Equatable {
    case serve(port: Int)
    case demo
    case help
    case unknown

    static let usage = """
        usage: service [--port <number> | --demo]
          --port <number>  serves on this port of 127.0.0.1, by default 8080, until it is interrupted
          --demo           serves on a free port, sends a few requests to itself, and exits
        The two services that it calls are in this process, on free ports. Try it:
          curl -i -H 'X-Request-ID: my-request' http://127.0.0.1:8080/articles/7
        """

    init(_ words: [String]) {
        if words.isEmpty {
            self = .serve(port: 8080)
        } else if words == ["--demo"] {
            self = .demo
        } else if words == ["--help"] || words == ["-h"] {
            self = .help
        } else if words.count == 2, words[0] == "--port", let port = UInt16(words[1]) {
            self = .serve(port: Int(port))
        } else {
            self = .unknown
        }
    }
}
