#if AsyncHTTPClient

import NIOCore

/// The event loops of a client, and how many requests each of them has.
///
/// If it can, AsyncHTTPClient takes an idle connection of the wanted event loop. If not, the thread of the connection
/// must wake that of the event loop for each part. So calls one after the other stay on one event loop.
final class EventLoops: Sendable {
    /// Each client begins with another event loop.
    private static let first = Locked(0)

    private let all: [any EventLoop]
    private let requests: Locked<[Int]>

    init(_ group: any EventLoopGroup) {
        let all = Array(group.makeIterator())
        let first = Self.first.withLock { first in
            first = (first + 1) % all.count
            return first
        }
        self.all = Array(all[first...] + all[..<first])
        requests = Locked(Array(repeating: 0, count: all.count))
    }

    /// The event loop with the fewest requests, and a function to call at the end of the request.
    func next() -> (any EventLoop, end: @Sendable () -> Void) {
        let index = requests.withLock { requests in
            let index = requests.indices.min { requests[$0] < requests[$1] } ?? 0
            requests[index] += 1
            return index
        }
        return (all[index], { self.requests.withLock { $0[index] -= 1 } })
    }
}

#endif
