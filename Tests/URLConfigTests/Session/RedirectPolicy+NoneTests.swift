import Foundation
import Testing

@testable import URLConfig

/// A call that follows no redirects does not check their targets.
@Suite struct RedirectPolicyNoneTests {
    @Test(arguments: ["https://a.example/y", "mailto:ada@a.example", "https://ada@b.example", "http://[", ""])
    func `any Location is returned`(location: String) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        let response = request.answered(302, location)
        #expect(try RedirectPolicy.none.next(after: response, to: request, .standard) == nil)
    }
}
