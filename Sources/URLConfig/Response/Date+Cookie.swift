extension Date {
    /// A date as cookies have them, which is nearly any way to write one (RFC 6265 §5.1.1); `nil` if a part is missing or
    /// there is no such day.
    init?(cookieDate text: String) {
        var time: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?
        for word in text.utf8.split(whereSeparator: \.isDelimiter) {
            if time == nil, let found = word.time {
                time = found
            } else if day == nil, let found = word.number(1...2) {
                day = found
            } else if month == nil, let found = word.month {
                month = found
            } else if year == nil, let found = word.number(2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        let parts = DateComponents(
            calendar: Self.httpCalendar, year: year, month: month, day: day, hour: time[0], minute: time[1],
            second: time[2])
        guard year > 1600, parts.isValidDate, let date = parts.date else { return nil }
        self = date
    }
}

extension UInt8 {
    /// RFC 6265 §5.1.1: everything but digits, letters, the colon and controls.
    fileprivate var isDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

extension Substring.UTF8View {
    /// The number that it begins with, of so many digits.
    fileprivate func number(_ count: ClosedRange<Int>) -> Int? {
        let digits = prefix(while: \.isDigit)
        return count.contains(digits.count) ? Int(Substring(digits)) : nil
    }

    /// Hour, minute and second, whatever follows.
    fileprivate var time: [Int]? {
        let parts = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.number(1...2) }
        return parts.count == 3 && numbers.count == 3 && parts[..<2].allSatisfy { $0.allSatisfy(\.isDigit) }
            ? numbers : nil
    }

    /// The month that it begins with, from 1.
    fileprivate var month: Int? {
        guard count >= 3 else { return nil }
        return Date.httpMonths.firstIndex { zip($0.utf8, self).allSatisfy { $0 | 0x20 == $1 | 0x20 } }.map { $0 + 1 }
    }
}
