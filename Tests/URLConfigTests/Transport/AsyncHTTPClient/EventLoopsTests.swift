#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOPosix
import Testing

@testable import URLConfig

@Suite(.timeLimit(.minutes(10))) struct EventLoopsTests {
    private let loops = EventLoops(MultiThreadedEventLoopGroup.singleton)
    private let count = Array(MultiThreadedEventLoopGroup.singleton.makeIterator()).count

    @Test func `requests one after the other have the same event loop`() {
        let (first, end) = loops.next()
        end()
        for _ in 0..<100 {
            let (loop, end) = loops.next()
            #expect(loop === first)
            end()
        }
    }

    @Test func `requests at the same time have different ones, until each has one`() {
        let requests = (0..<count).map { _ in loops.next() }
        #expect(Set(requests.map { ObjectIdentifier($0.0) }).count == count)
        // Each has one more, too.
        let more = (0..<count).map { _ in loops.next() }
        #expect(Set(more.map { ObjectIdentifier($0.0) }).count == count)
        requests.last?.end()
        #expect(loops.next().0 === requests.last?.0)
    }

    @Test(arguments: [FaultServer.Fault.ok("{}"), .truncated, .hangInBody, .hangBeforeHead, .empty])
    func `whatever happens to a request, its event loop is free again`(fault: FaultServer.Fault) async throws {
        try await FaultServer.serving(fault) { server in
            try await HTTPClient.lending { client in
                let shared = SharedClient(client)
                let eventLoops = try #require(shared.eventLoops)
                let (first, end) = eventLoops.next()
                end()
                for isWhole in [true, false, true, false, true] {
                    let call = Task {
                        let request = try HTTPClient.Request(url: server.host)
                        let body = ReceivedBody()
                        let reader = ReceivedBody.Reader(body)
                        _ = try #require(try await shared.receive(body, request, nil, isWhole: isWhole))
                        while try await reader.next() != nil, isWhole {}
                    }
                    // Some end by themselves before this, some after it.
                    try await Task.sleep(for: .milliseconds(50))
                    call.cancel()
                    _ = await call.result
                }
                try await waitUntil { eventLoops.isFree(first) }
            }
        }
    }
}

extension EventLoops {
    /// Whether the first one is free again, which all requests get that are alone.
    fileprivate func isFree(_ first: any EventLoop) -> Bool {
        let (loop, end) = next()
        defer { end() }
        return loop === first
    }
}

#endif
