import Foundation

/// A server that costs next to nothing: ready answers, kept connections, a thread for each.
///
/// Prints its port. For each line that it reads it prints the number of requests so far and the processor time, in
/// nanoseconds, that it has used. Ends when its input does.
@main
enum BenchmarkServer {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let listener = try Listener()
        say("\(listener.port)")
        Thread.detachNewThread { listener.serve() }
        while readLine() != nil {
            say("\(Connection.requests.load(ordering: .relaxed)) \(processorTime())")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    private static func processorTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
