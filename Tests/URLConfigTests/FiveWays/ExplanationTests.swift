import Testing
import URLConfig

@Suite(.inTime, .silentByDefault) struct ExplanationTests {
    // The table also has the transport, if the default has another one.
    @Test(.urlSessionOnly) func `what is set, and by whom`() async {
        await URLSession.Config.withHosts([NotesService.host: .notes]) {
            let request = URLRequest.note(7, token: "t0ken")
            let creation = URLRequest.explain(.notes("t0ken")) {
                $0.path = "/notes"
                $0.query["page"] = 2
            }
            let call = URLSession.Config.explain(for: request) { $0.retry = .standard }
            print(creation, call, separator: "\n\n")
            #expect(creation.row("query[\"page\"]") == "2 closure")
            #expect(
                call == """
                    GET https://notes.example.com/v1/notes/7

                    NAME     VALUE                            SOURCE
                    decoder  JSONDecoder                      host https://notes.example.com
                    retry    3 attempts, delays up to 20.0 s  closure
                    logger   none                             default
                    """)
        }
    }
}
