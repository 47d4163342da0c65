/// The lines around the place at which a decoder failed.
struct JSONPlaceLines {
    private(set) var lines: [String] = []

    init(_ error: DecodingError, _ data: Data, _ redaction: Redaction) {
        let scanner = JSONScanner(Array(data.prefix(DecodingDiagnosis.limit)))
        let fragment = JSONFragment(scanner: scanner, redaction: redaction)
        let path = error.context.codingPath.map(CodingStep.init)
        guard let place = JSONPlace(path, in: scanner, redaction), place.isShown(in: scanner, of: data.count) else {
            lines = ["(the place is not among the first \(scanner.end.shownAsBytes), which is all that was searched)"]
            return
        }
        let title = { (depth: Int) in depth == 0 ? "" : Array(path.prefix(depth)).text(redaction) }
        if let member = place.member, place.isWhole(path), !place.isHidden, scanner.opens(at: member.value) {
            guard case .keyNotFound(let key, _) = error else {
                lines = fragment.lines(of: member.value, path: title(path.count), .container, "here")
                return
            }
            let name = key.stringValue.shortened(to: 60)
            if let likeness = scanner.likeness(of: key.stringValue, in: member.value) {
                lines = fragment.lines(
                    of: member.value, path: title(path.count), .member(likeness.start), "not \"\(name)\"")
            } else {
                lines = fragment.lines(of: member.value, path: title(path.count), .container, "no \"\(name)\" in here")
            }
        } else if let container = place.container {
            let mark: JSONFragment.Mark =
                place.member.map { .member($0.start) } ?? (error.context.isPastEnd ? .last : .container)
            let note = place.member == nil && error.context.isPastEnd ? "it ends here" : "here"
            lines = fragment.lines(of: container, path: title(place.depth), mark, note)
        } else if let member = place.member {
            lines = [scanner.text(member, redaction) + "  ← here"]
        }
    }
}

extension JSONPlace {
    /// Whether all of a path was gone.
    fileprivate func isWhole(_ path: [CodingStep]) -> Bool { path.isEmpty || depth == path.count - 1 }

    /// Whether the place is among the bytes that there are.
    fileprivate func isShown(in scanner: JSONScanner, of count: Int) -> Bool {
        member.map { $0.value < scanner.end } ?? (scanner.end == count)
    }
}
