import Testing
import URLConfig
@Test func t() { #expect(URLRequest(url: URL(string: "http://a")!).httpMethod == "GET") }
