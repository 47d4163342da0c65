#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// Which proxy a URL has.
@Suite struct ProxySettingsTests {
    private typealias Proxy = HTTPClient.Configuration.Proxy

    private let dictionary: [AnyHashable: Any] = [
        "HTTPEnable": 1, "HTTPProxy": "web.example", "HTTPPort": 8080,
        "HTTPSEnable": true, "HTTPSProxy": "secure.example", "HTTPSPort": 8443,
    ]
    private let socks: [AnyHashable: Any] = [
        "SOCKSEnable": NSNumber(value: true), "SOCKSProxy": "socks.example", "SOCKSPort": NSNumber(value: 1081),
    ]

    private func proxy(
        for url: String, _ settings: [AnyHashable: Any]? = nil, _ environment: [String: String] = [:]
    ) throws -> Proxy? {
        try Proxy(for: #require(URL(string: url)), settings, environment: environment)
    }

    @Test func `a session's proxy depends on the scheme`() throws {
        #expect(try proxy(for: "http://a.example/", dictionary) == .server(host: "web.example", port: 8080))
        #expect(try proxy(for: "HTTPS://a.example/", dictionary) == .server(host: "secure.example", port: 8443))
    }

    @Test func `a session's SOCKS proxy is for what has no other proxy`() throws {
        #expect(try proxy(for: "http://a.example/", socks) == .socksServer(host: "socks.example", port: 1081))
        let both = dictionary.merging(socks) { $1 }.merging(["HTTPSEnable": 0]) { $1 }
        #expect(try proxy(for: "http://a.example/", both) == .server(host: "web.example", port: 8080))
        #expect(try proxy(for: "https://a.example/", both) == .socksServer(host: "socks.example", port: 1081))
    }

    @Test func `a session's proxy that is not enabled is not used`() throws {
        var settings = dictionary
        settings["HTTPEnable"] = 0
        settings["HTTPSEnable"] = nil
        #expect(try proxy(for: "http://a.example/", settings) == nil)
        #expect(try proxy(for: "https://a.example/", settings) == nil)
    }

    @Test func `the environment is not used if the session has settings, even empty ones`() throws {
        let environment = ["all_proxy": "http://p.example:1"]
        #expect(try proxy(for: "http://a.example/", nil, environment) == .server(host: "p.example", port: 1))
        #expect(try proxy(for: "http://a.example/", [:], environment) == nil)
        #expect(try proxy(for: "http://a.example/", ["HTTPSEnable": 0], environment) == nil)
        #expect(
            try proxy(for: "http://a.example/", dictionary, environment) == .server(host: "web.example", port: 8080))
    }

    @Test(
        arguments: [
            ["HTTPProxy": ""], ["HTTPPort": 0], ["HTTPPort": 65536], ["HTTPPort": -1], ["HTTPPort": "s3cret"],
            ["HTTPProxy": 5], ["ProxyAutoConfigEnable": 1],
        ] as [[String: any Sendable]])
    func `malformed or unsupported settings of a session are an error without their values`(
        change: [String: any Sendable]
    ) throws {
        let settings = dictionary.merging(change.map { ($0, $1) }) { $1 }
        let error = expectThrown(.invalidRequest) { try proxy(for: "http://a.example/", settings) }
        #expect(error?.reason.hasPrefix("proxy: connectionProxyDictionary ") == true)
        #expect(error?.reason.contains("s3cret") == false)
    }

    @Test(arguments: [
        ("http://p.example:3128", "p.example", 3128), ("http://p.example:3128/", "p.example", 3128),
        ("p.example:3128", "p.example", 3128), ("HTTP://p.example", "p.example", 1080),
        ("10.0.0.1:3128", "10.0.0.1", 3128), ("http://[::1]:3128", "::1", 3128), ("[::1]:3128", "::1", 3128),
    ])
    func `a variable of the environment contains the URL of a proxy`(text: String, host: String, port: Int) throws {
        #expect(try proxy(for: "http://a.example/", nil, ["http_proxy": text]) == .server(host: host, port: port))
    }

    @Test(arguments: ["socks5://p.example", "socks5h://p.example:1080", "SOCKS://p.example:1080/"])
    func `a variable of the environment contains the URL of a SOCKS proxy`(text: String) throws {
        let proxy = try proxy(for: "https://a.example/", nil, ["ALL_PROXY": text])
        #expect(proxy == .socksServer(host: "p.example", port: 1080))
    }

    @Test(arguments: [
        ("ada:s3cret@", "ada", "s3cret"), ("ada@", "ada", ""), ("a%40da:s3%3Acr%2Fet%20@", "a@da", "s3:cr/et "),
    ])
    func `the user and the password of a variable are decoded`(part: String, user: String, password: String) throws {
        for text in ["http://\(part)p.example:8", "\(part)p.example:8"] {
            #expect(
                try proxy(for: "https://a.example/", nil, ["HTTPS_PROXY": text])
                    == .server(
                        host: "p.example", port: 8, authorization: .basic(username: user, password: password)))
        }
    }

    /// The variables, and the number of the one that is used for each scheme.
    struct Variables: Sendable {
        var names: [String]
        var http: Int?
        var https: Int?
    }

    @Test(arguments: [
        Variables(names: ["http_proxy"], http: 0), Variables(names: ["https_proxy"], https: 0),
        Variables(names: ["HTTPS_PROXY"], https: 0), Variables(names: ["all_proxy"], http: 0, https: 0),
        Variables(names: ["ALL_PROXY"], http: 0, https: 0),
        // A field of a client's request in a CGI process.
        Variables(names: ["HTTP_PROXY"]),
        Variables(names: ["https_proxy", "HTTPS_PROXY"], https: 0),
        Variables(names: ["all_proxy", "http_proxy", "https_proxy"], http: 1, https: 2),
        Variables(names: ["ALL_PROXY", "all_proxy"], http: 1, https: 1),
    ])
    func `which variable is used`(variables: Variables) throws {
        let environment = Dictionary(
            uniqueKeysWithValues: variables.names.enumerated().map { ($1, "http://p\($0).example:1") })
        #expect(try proxy(for: "http://a/", nil, environment)?.host == variables.http.map { "p\($0).example" })
        #expect(try proxy(for: "https://a/", nil, environment)?.host == variables.https.map { "p\($0).example" })
    }

    @Test func `an empty variable is no proxy`() throws {
        #expect(try proxy(for: "http://a/", nil, ["http_proxy": ""]) == nil)
        #expect(try proxy(for: "http://a/", nil, ["http_proxy": "", "all_proxy": "http://p:1"])?.host == "p")
    }

    @Test(arguments: [
        "ftp://ada:s3cret@p.example", "https://ada:s3cret@p.example", "socks4://s3cret.example",
        "socks5://ada:s3cret@p.example:1080", "http://", "http://:3128", "http://s3cret.example:99999",
        "http://s3cret.example:0", "http://s3cret.example:x", "ada:1#s3cret@p.example:3128",
        "http://ada:s3cret%E9@p.example:3128", "http://%E9:s3cret@p.example:3128", "http://s3cret%E9@p.example:3128",
        "http://s3cret%3Aada:b@p.example:3128", "ada:1/s3cret@p.example:3128", "ada:1?s3cret@p.example:3128",
        "s3cret://p.example", "://s3cret", " ",
    ])
    func `a malformed or unsupported variable is an error without its value`(text: String) throws {
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            let error = expectThrown(.invalidRequest) { try proxy(for: "https://a.example/", nil, [name: text]) }
            #expect(error?.reason.hasPrefix("proxy: \(name) ") == true)
            #expect(error.map { "\($0) \(String(reflecting: $0))".contains("s3cret") } == false)
        }
    }

    /// An exception, and hosts that it matches or not.
    struct Exception: Sendable {
        var entries: [String]
        var direct: [String] = []
        var proxied: [String] = []
    }

    @Test(arguments: [
        Exception(
            entries: ["example.com", ".example.com", "*.example.com", " EXAMPLE.com ", "example.com."],
            direct: ["example.com", "api.example.com", "Api.Example.COM:8080", "example.com.", "api.example.com.:80"],
            proxied: ["myexample.com", "com.", "example.com.evil.example", "example.org"]),
        Exception(entries: ["*"], direct: ["a.example", "10.0.0.1", "[::1]:80"]),
        Exception(entries: ["localhost"], direct: ["localhost:8080"], proxied: ["127.0.0.1", "notlocalhost"]),
        Exception(entries: ["10.0.0.1"], direct: ["10.0.0.1:80"], proxied: ["10.0.0.10", "110.0.0.1", "a.10.0.0.1.x"]),
        Exception(entries: ["::1", "[::1]"], direct: ["[::1]", "[::1]:8080"], proxied: ["[::2]", "[::11]", "1"]),
        Exception(entries: ["", " ", ".", "*.", "10.0.0.0/8"], proxied: ["a.example", "10.0.0.0", "[::]"]),
    ])
    func `exceptions of the session and of the environment`(exception: Exception) throws {
        let hosts = exception.direct.map { ($0, true) } + exception.proxied.map { ($0, false) }
        for entry in exception.entries {
            for (host, isDirect) in hosts {
                var settings = dictionary
                settings["ExceptionsList"] = ["other.example", entry]
                let ofSession = try proxy(for: "http://\(host)/", settings)
                #expect((ofSession == nil) == isDirect, "\(entry), \(host)")
                for name in ["no_proxy", "NO_PROXY"] {
                    let environment = ["http_proxy": "p.example:1", name: "other.example, \(entry)"]
                    let ofEnvironment = try proxy(for: "http://\(host)/", nil, environment)
                    #expect((ofEnvironment == nil) == isDirect, "\(entry), \(host)")
                    // curl reads spaces like commas.
                    let spaced = ["http_proxy": "p.example:1", name: "other.example \(entry)"]
                    #expect(try (proxy(for: "http://\(host)/", nil, spaced) == nil) == isDirect, "\(entry), \(host)")
                }
            }
        }
    }

    @Test func `an exception makes a malformed proxy harmless`() throws {
        #expect(try proxy(for: "http://a/", nil, ["http_proxy": "ftp://p", "no_proxy": "a"]) == nil)
        #expect(try proxy(for: "http://a/", ["HTTPEnable": 1, "ExceptionsList": ["a"]]) == nil)
    }
}

#endif
