#if AsyncHTTPClient

import NIOSSL

/// A certificate that is signed by its own key.
///
/// It is for tests only, so the key may be public.
///
/// It was made with openssl and is valid from 2020 to 2070.
struct TestCertificate: Sendable {
    let certificate: String
    let key: String

    /// For `localhost` and 127.0.0.1.
    static let localhost = Self(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBaDCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
            c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjA3MDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
            CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNUHvBv+A+ITiOAR
            a3T/5sQIOCWF1EVwdqXxFfIKb30TPYUrxvVtknTR8+y9S3mo/8T2I82xWvyOM+5+
            z86AZ7GjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
            hwR/AAABMB0GA1UdDgQWBBS0G0X/e9bzjE2NL35orawmRO/A3zAKBggqhkjOPQQD
            AgNJADBGAiEA2u824nMHtXNPJ1FY4YEuenyPERWB/FjRGvbAz7Z8PR8CIQDCi0AH
            SnqCDBsqd6keRDYWcNkbLK+KlJ+/w1y75lwnpQ==
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPn5zG7YFNEGp7eC8
            NwjKbyK7vclUrQ+DVv2cgny3rpuhRANCAATVB7wb/gPiE4jgEWt0/+bECDglhdRF
            cHal8RXyCm99Ez2FK8b1bZJ00fPsvUt5qP/E9iPNsVr8jjPufs/OgGex
            -----END PRIVATE KEY-----
            """)

    /// Also for `localhost` and 127.0.0.1, but with another key.
    static let second = Self(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBZzCCAQ2gAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
            c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjA3MDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
            CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA8fUPIpRjknu6C2
            BQ7FvJMdror4ogzg9NhII5avqE9iou2zgdjLku4/rjdpO2skz3l0DBeF+FmsvKuU
            mXBSrYijTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
            hwR/AAABMB0GA1UdDgQWBBRp0UTAONBdLYi6DJ4Bza/1TKKs8TAKBggqhkjOPQQD
            AgNIADBFAiEA1xhXOwVM52Q5qVAOV8ALvfZe4hAwgOrPF3YZ1M8rEE0CIGuvBj+U
            JcCun7DFyl1+011R4pZIceSnQtHt7Y3DZdGF
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgN5vbAltz2tOj8+SP
            UZABbZ5pADvSInYrtjlbua7ZQA2hRANCAAQPH1DyKUY5J7ugtgUOxbyTHa6K+KIM
            4PTYSCOWr6hPYqLts4HYy5LuP643aTtrJM95dAwXhfhZrLyrlJlwUq2I
            -----END PRIVATE KEY-----
            """)

    /// For `other.invalid`.
    static let otherHost = Self(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBbTCCAROgAwIBAgIBAzAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1vdGhlci5p
            bnZhbGlkMCAXDTIwMDEwMTAwMDAwMFoYDzIwNzAwMTAxMDAwMDAwWjAYMRYwFAYD
            VQQDDA1vdGhlci5pbnZhbGlkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE2hkX
            AVkNbLUWn6TcOGqkTGrBRUmFNJ7Sm3F9vkMyB4pXaLIjwLNOthe4y+FaCWkzhG0F
            QuDtdQakdWRd5xJAb6NMMEowDwYDVR0TAQH/BAUwAwEB/zAYBgNVHREEETAPgg1v
            dGhlci5pbnZhbGlkMB0GA1UdDgQWBBTeBz9tpyEYbiOAYkljIu2LQVkwWTAKBggq
            hkjOPQQDAgNIADBFAiBxVEk4VhFWmqChalSeyMIBwrJks6ebe+Y/Pq13HIjpzAIh
            ANSvH0jDLGJydlHCRasjSYb8v5qTFs9+ZiAt8JwGDGzY
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQaadfDcNG06ppwcX
            uSTR48RfEi9JGciet96wXVMf8o2hRANCAATaGRcBWQ1stRafpNw4aqRMasFFSYU0
            ntKbcX2+QzIHildosiPAs062F7jL4VoJaTOEbQVC4O11BqR1ZF3nEkBv
            -----END PRIVATE KEY-----
            """)

    /// The configuration of a server that has this certificate.
    func forServer(_ protocols: [String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.applicationProtocols = protocols
        return configuration
    }

    /// The configuration of a client that trusts this certificate and no other one.
    func forClient() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
        return configuration
    }
}

#endif
