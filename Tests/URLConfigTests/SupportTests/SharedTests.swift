import Testing

@testable import URLConfig

/// Values behind one reference.
@Suite struct SharedTests {
    private struct Holder {
        @Shared var words = ["one"]
    }

    @Test func `a copy that is changed leaves the other one alone`() {
        let first = Holder()
        var second = first
        second.words.append("two")
        var third = second
        third.words = []
        #expect(first.words == ["one"])
        #expect(second.words == ["one", "two"])
        #expect(third.words == [])
    }

    @Test func `a member that is changed in a copy stays in the other one`() {
        let first = Shared(wrappedValue: Holder())
        var second = first
        second.words.append("two")
        #expect(first.words == ["one"])
        #expect(second.words == ["one", "two"])
    }

    @Test func `responses and errors are values`() {
        let response = DataResponse(request: .with(.init(host: "https://api.example.com")))
        var other = response
        other.status = .notFound
        other.data = Data("no".utf8)
        #expect(response.status == .ok && response.data.isEmpty)
        let error = RequestError(.unacceptableStatus, reason: "status", response: response)
        var changed = error
        changed.response?.status = .gone
        changed.reason = "changed"
        #expect(error.response?.status == .ok)
        #expect(error.reason == "status")
        #expect(changed.response?.status == .gone)
    }

    @Test func `members are sorted by their names`() {
        #expect(["b": 1, "a": 2, "c": 3].sortedByName().map(\.key) == ["a", "b", "c"])
    }
}
