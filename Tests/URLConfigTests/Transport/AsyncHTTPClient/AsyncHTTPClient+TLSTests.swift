#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOSSL
import Testing

@testable import URLConfig

/// Certificates and the version of HTTP, with a server that speaks both versions.
@Suite(.inTime) struct AsyncHTTPClientTLSTests {
    @Test func `HTTP 2 is used where the server speaks it, and many calls share a connection`() async throws {
        try await TLSServer.trusted { server, config in
            try await server.get(config: config)
            try await concurrently(50) { index in
                let text = try await server.get(.init("/\(index)"), config: config).text()
                #expect(text == "{}")
            }
            #expect(server.requests.count == 51)
            #expect(server.requests.allSatisfy { $0.version == 2 })
            #expect(Set(server.requests.map(\.connection)) == [0])
        }
    }

    @Test func `HTTP 1 is used where the server does not speak HTTP 2`() async throws {
        try await TLSServer.trusted(protocols: ["http/1.1"]) { server, config in
            let response = try await server.get(config: config)
            #expect(try response.text() == "{}")
            #expect(server.requests.map(\.version) == [1])
        }
    }

    @Test func `a certificate that nobody trusts is an error, and nothing is sent`() async throws {
        try await TLSServer.serving { server in
            let error = await expectError(.serverCertificateUntrusted) { try await server.get(config: .server) }
            #expect(error?.cause is NIOSSLError)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the right host name is accepted`() async throws {
        try await TLSServer.trusted { server, config in
            let localhost = server.host.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            let response = try await server.response(for: .with(.init(host: localhost)) { _ in }, config: config)
            #expect(response.isSuccess)
        }
    }

    @Test func `a trusted certificate for another host is an error, and nothing is sent`() async throws {
        try await TLSServer.serving(.otherHost) { server in
            try await HTTPClient.trusting(.otherHost) { client in
                for host in ["127.0.0.1", "localhost"] {
                    let host = server.host.replacingOccurrences(of: "127.0.0.1", with: host)
                    let request = URLRequest.with(.init(host: host)) { _ in }
                    let error = await expectError(.serverCertificateUntrusted) {
                        try await server.response(for: request, config: .onServer(client))
                    }
                    #expect(error?.cause != nil)
                }
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a client that trusts one certificate refuses another one for the same host`() async throws {
        try await TLSServer.serving(.second) { server in
            try await HTTPClient.trusting(.localhost) { client in
                await expectError(.serverCertificateUntrusted) { try await server.get(config: .onServer(client)) }
            }
            #expect(server.requests.isEmpty && server.connections == 1)
            try await HTTPClient.trusting(.second) { client in
                let response = try await server.get(config: .onServer(client))
                #expect(response.isSuccess)
            }
        }
    }

    /// They do not read a request, because the client waits for them.
    @Test(arguments: [FaultServer.Fault.falseHandshake, .init { $0.close() }, .init { try $0.reset() }])
    func `a server that does not speak TLS is an error`(fault: FaultServer.Fault) async throws {
        try await FaultServer.serving(fault) { server in
            let host = server.host.replacingOccurrences(of: "http:", with: "https:")
            let request = URLRequest.with(.init(host: host)) { _ in }
            let error = await #expect(throws: URLError.self) {
                try await server.response(for: request, config: .server)
            }
            #expect(error.map { [.secureConnectionFailed, .networkConnectionLost].contains($0.code) } == true)
            #expect(error?.cause != nil)
        }
    }

    /// With TLS 1.3, the handshake of the client has ended before.
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13], ["GET", "POST"])
    func `a server that demands a certificate of the client is an error`(
        version: TLSVersion, method: String
    ) async throws {
        try await TLSListener.serving(["http/1.1"]) {
            ($0.minimumTLSVersion, $0.maximumTLSVersion) = (version, version)
            $0.certificateVerification = .noHostnameVerification
            $0.trustRoots = try TestCertificate.second.forClient().trustRoots
        } handler: {
            NIOCloseOnErrorHandler()
        } _: { host in
            try await HTTPClient.trusting { client in
                let request = URLRequest.with(.init(host: host)) { $0.method = .init(rawValue: method) ?? .get }
                let error = await expectError(.secureConnectionFailed) {
                    try await URLSession.shared.response(for: request, config: .onServer(client))
                }
                #expect(error?.cause != nil)
                #expect(error?.failingURL == request.url)
                #expect(error?.localizedDescription.isEmpty == false)
            }
        }
    }

    @Test func `a handshake that does not end is as long as the time limit`() async throws {
        try await FaultServer.serving(.init { try $0.waitForEnd() }) { server in
            let request = URLRequest.with(.init(host: server.host.replacingOccurrences(of: "http:", with: "https:"))) {
                $0.timeout = .milliseconds(500)
            }
            await expectError(.timedOut) { try await server.response(for: request, config: .server) }
        }
    }
}

extension FaultServer.Fault {
    /// Sends a text as soon as the client is connected.
    fileprivate static let falseHandshake = Self { connection in
        try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        try connection.waitForEnd()
    }
}

#endif
