import Testing
import URLConfig

/// The call sites that the README promises, as they are written there.
@Suite struct CallSiteTests {
    @Test func `header field from a list`() {
        let request = URLRequest.with(.dogapi) {
            $0.headers[.acceptLanguage] = ["en-US", "zh-Hans-CN"]
        }
        #expect(request.value(forHTTPHeaderField: "Accept-Language") == "en-US, zh-Hans-CN")
    }

    @Test func `body members of any type`() {
        let flag = true
        let name = "n"
        let request = URLRequest.with(.dogapi) {
            $0.method = .post
            $0.body["title"] = "some-title"
            $0.body["meta"] = ["draft": true, "tags": ["a", "b"], "ratio": 1.5, "none": nil]
            $0.body["same"] = ["a": 1, "b": 2]
            $0.body["list"] = [1, "a", nil]
            $0.body["deep"] = ["a": ["b": 1, "c": "x"], "d": [["e": nil]]]
            $0.body["vars"] = ["a": flag, "b": name]
            $0.body["gone"] = nil
            $0.body["int"] = 1
            $0.body["date"] = Date(timeIntervalSince1970: 0)
        }
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == "")
    }

    @Test func `path with a value`() {
        let userID = 7
        let request = URLRequest.with(.dogapi) {
            $0.path = "/users/\(userID)/article"
        }
        #expect(request.url?.absoluteString == "https://dogapi.dog/users/7/article")
    }

    @Test func `typed query items`() {
        let page = 3
        let maybe: Int? = nil
        let request = URLRequest.with(.dogapi) {
            $0.query["query"] = "APL"
            $0.query["page"] = 2
            $0.query["ids"] = [1, 2]
            $0.query["gone"] = nil
            $0.query["p"] = page
            $0.query["m"] = maybe
            $0.query["t"] = true
            let x = $0.query["page"]
            #expect(x == "2")
        }
        #expect(request.url?.absoluteString == "https://dogapi.dog?query=APL&page=2&ids=1&ids=2&p=3&t=true")
    }
}

extension URLRequest.Config {
    static let dogapi = Self(host: "https://dogapi.dog")
}
