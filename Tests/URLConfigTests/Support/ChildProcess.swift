import Foundation

/// For the child process in which a test runs alone.
enum ChildProcess {
    /// Ends this process if it takes too long: without a free thread for tasks, no test can fail.
    ///
    /// A signal ends it, because `exit` waits if another thread hangs in it.
    static func endIfStuck(after seconds: UInt32 = 300) { _ = alarm(seconds) }

    /// The number of open files and sockets of this process.
    static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
