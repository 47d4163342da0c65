import Foundation

/// A row of the table, as `run` reads it.
struct Row {
    let work: String
    let against: String
    let theirs: Double
    let ours: Double
    let unit: String
    let ratio: Double
    /// The most that the ratio may be; `nil` if the row is shown for information.
    var target: Double?
    var note = ""

    func print() {
        let cells = [
            work, against, "\(Int(theirs.rounded())) \(unit)", "\(Int(ours.rounded())) \(unit)", "\(ratio)",
            target.map { "\($0)" } ?? "none", note,
        ]
        Self.say(cells.joined(separator: "|"))
    }

    /// Prints a line at once, so that a person can watch.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

extension [Double] {
    /// The value that the given part of all are below: 0.5 for the median.
    func quantile(_ part: Double) -> Double {
        sorted()[Int((Double(count - 1) * part).rounded())]
    }
}

extension Double {
    /// With two digits after the point.
    var shown: String { String(format: "%.2f", self) }
}
