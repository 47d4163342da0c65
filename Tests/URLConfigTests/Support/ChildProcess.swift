import Foundation
import Testing

/// For the child process in which a test runs alone.
enum ChildProcess {
    /// Ends this process if it takes too long: without a free thread for tasks, no test can fail.
    ///
    /// A signal ends it, because `exit` waits if another thread hangs in it.
    static func endIfStuck(after seconds: UInt32 = 300) { _ = alarm(seconds) }

    #if os(Linux)
    /// Does something while no file of this process can become longer than this, as on a full disk.
    static func limitingFiles(to size: UInt, _ work: () async throws -> Void) async throws {
        signal(SIGXFSZ, SIG_IGN)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var (before, limit) = (rlimit(), rlimit())
        try #require(getrlimit(resource, &before) == 0)
        (limit.rlim_cur, limit.rlim_max) = (size, before.rlim_max)
        try #require(setrlimit(resource, &limit) == 0)
        try await work()
        // The process writes its coverage when it ends.
        try #require(setrlimit(resource, &before) == 0)
    }

    /// Does something while this process can open no file and no socket.
    static func withoutDescriptors<Value>(_ work: () async throws -> Value) async throws -> Value {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var (before, limit) = (rlimit(), rlimit())
        try #require(getrlimit(resource, &before) == 0)
        (limit.rlim_cur, limit.rlim_max) = (256, before.rlim_max)
        try #require(setrlimit(resource, &limit) == 0)
        var taken: [Int32] = []
        while case let file = open("/dev/null", O_RDONLY), file >= 0 { taken.append(file) }
        let value = try await work()
        setrlimit(resource, &before)
        for file in taken { close(file) }
        return value
    }
    #endif

    /// The number of open files and sockets of this process.
    static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
