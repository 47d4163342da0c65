import Benchmark
import URLConfig

/// Reading a model from an answer: a small one, a megabyte of them, and one that does not fit, whose error nobody prints.
func decode() {
    let note = #"{"id":7,"title":"Foxes","text":"A line of text, as lines are.","tags":["a","b"],"views":12}"#
    decode("Decode a small model, 200 times", Note.self, note, count: 200, target: 1.02)
    let notes = "[\(repeatElement(note, count: 1_000_000 / note.utf8.count).joined(separator: ","))]"
    decode("Decode 1 MB of models", [Note].self, notes, count: 1, target: 1.02)
    decode("Decode what does not fit, 200 times", [Note].self, note, count: 200, target: nil)
}

private struct Note: Decodable, Equatable {
    var id: Int
    var title: String
    var text: String
    var tags: [String]
    var views: Int
}

/// A contest with one bare decoder; ends the process if one reads what the other does not.
private func decode<Model: Decodable & Equatable>(
    _ name: String, _ type: Model.Type, _ text: String, count: Int, target: Double?
) {
    let data = Data(text.utf8)
    let response = DataResponse(request: URLRequest.with(.api), data: data)
    let decoder = JSONDecoder()
    guard (try? response.decode(type)) == (try? decoder.decode(type, from: data)) else {
        fatalError("\(name): not the same")
    }
    // In a loop of their own, with variables of their own, as an app has them: what a closure captures is copied with each use.
    contest(
        name, batch: 1,
        ours: {
            let response = response
            for _ in 0..<count { blackHole(try? response.decode(type)) }
        },
        rivals: [
            Rival(name: "bare JSONDecoder", target: target) {
                let (data, decoder) = (data, decoder)
                for _ in 0..<count { blackHole(try? decoder.decode(type, from: data)) }
            }
        ])
}
