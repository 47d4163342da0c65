#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

#if canImport(Network)
import Network
#endif

extension Error {
    /// This error of AsyncHTTPClient as a `URLError` with the code that Apple platforms have for it.
    ///
    /// Errors of the library and of the caller's body are not changed.
    func asURLError(_ url: URL?) -> any Error {
        if let failure = self as? SourceFailure { return failure.error }
        if self as? HTTPClientError == .alreadyShutdown {
            return RequestError(
                .invalidRequest, reason: "the HTTPClient has been shut down; use a running one", underlyingError: self)
        }
        let missing = missingDescriptors
        guard let code = missing == nil ? urlErrorCode : .cannotConnectToHost else { return self }
        let description = missing ?? (self as? NIOConnectionError)?.reason ?? "\(self)"
        return URLError(code, description, url: url, cause: self)
    }

    /// Says that the host could not be looked up because no file descriptor was free: the error itself does not.
    private var missingDescriptors: String? {
        guard self is SocketAddressError || (self as? NIOConnectionError)?.connectionErrors.isEmpty == true else {
            return nil
        }
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let code = errno
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        return [EMFILE, ENFILE].contains(code) ? String(cString: strerror(code)) : nil
    }

    private var urlErrorCode: URLError.Code? {
        switch self as any Error {
        case let error as HTTPClientError: error.matchingCode
        case let error as NIOConnectionError: error.connectionErrors.isEmpty ? .cannotFindHost : .cannotConnectToHost
        case let error as IOError: error.matchingCode
        case is SocketAddressError: .cannotFindHost
        case ChannelError.connectTimeout: .timedOut
        case is ChannelError: .networkConnectionLost
        case HTTPParserError.invalidEOFState: .networkConnectionLost
        case is HTTPParserError: .cannotParseResponse
        case is any NIOHTTP2Error: .networkConnectionLost
        case NIOSSLError.handshakeFailed(let failure) where "\(failure)".contains("CERTIFICATE_VERIFY_FAILED"):
            .serverCertificateUntrusted
        case NIOSSLError.uncleanShutdown: .networkConnectionLost
        // With TLS 1.3, the server checks the client's certificate after the handshake.
        case is NIOSSLError, is BoringSSLError: .secureConnectionFailed
        case let error as NIOSSLExtraError:
            error == .failedToValidateHostname
                ? .serverCertificateUntrusted : .secureConnectionFailed
        case is ContentDecoder.Failure: .cannotDecodeContentData
        #if canImport(Network)
        case let error as HTTPClient.NWPOSIXError:
            IOError(errnoCode: error.errorCode.rawValue, reason: "").matchingCode
        // errSSLBadCert and its kin in `Security/SecureTransport.h`
        case let error as HTTPClient.NWTLSError:
            [-9807, -9808, -9812, -9813, -9814, -9815, -9843].contains(Int(error.status))
                ? .serverCertificateUntrusted : .secureConnectionFailed
        case NWError.dns(_): .cannotFindHost
        #endif
        case _ where isOfProxy: .cannotConnectToHost
        default: nil
        }
    }

    /// Whether this is an error of SOCKS, or an internal one of AsyncHTTPClient, such as `NoResult` if a proxy closes
    /// the connection.
    private var isOfProxy: Bool {
        // `Self` may be `any Error`.
        let name = String(reflecting: type(of: self as Any))
        return name.hasPrefix("NIOSOCKS.") || name.hasPrefix("AsyncHTTPClient.")
    }
}

extension NIOConnectionError {
    /// Shorter than the description, which has all properties of all errors.
    fileprivate var reason: String {
        let code = connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }.first
        let cause = code.map { String(cString: strerror($0)) }
        return "\(host):\(port): \(cause ?? (connectionErrors.isEmpty ? "the host has no address" : "no connection"))"
    }
}

extension IOError {
    fileprivate var matchingCode: URLError.Code {
        switch errnoCode {
        case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN: .networkConnectionLost
        case ETIMEDOUT: .timedOut
        default: .cannotConnectToHost
        }
    }
}

extension HTTPClientError {
    fileprivate var matchingCode: URLError.Code {
        switch self {
        case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            .timedOut
        // A request is cancelled not only with its task, but also if its connection or the client is being closed.
        case .remoteConnectionClosed, .uncleanShutdown, .cancelled: .networkConnectionLost
        case .invalidURL, .emptyHost, .emptyScheme: .badURL
        case .invalidProxyResponse: .cannotConnectToHost
        case .proxyAuthenticationRequired: .userAuthenticationRequired
        default: .unknown
        }
    }
}

#endif
