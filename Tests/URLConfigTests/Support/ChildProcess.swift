import Foundation

/// For the child process in which a test runs alone.
enum ChildProcess {
    /// Ends this process if it takes too long: without a free thread for tasks, no test can fail.
    static func endIfStuck(after seconds: TimeInterval = 300) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            exit(1)
        }
    }

    /// The number of open files and sockets of this process.
    static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
