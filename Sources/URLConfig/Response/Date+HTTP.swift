/// Dates in header fields: written by RFC 9110 §5.6.7, read by the algorithm for cookies (RFC 6265 §5.1.1).
extension Date {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
    private static let httpFormat = VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: calendar)

    /// A date in any of HTTP's three formats, or nearly so.
    init?(httpDate text: String) {
        // Dates are shorter than 64 bytes.
        guard text.utf8.count <= 64, let (date, rest) = Self.parse(text) else { return nil }
        // Another time zone would make it another date. Only the format of asctime, which has no comma, names none.
        let zones = rest.filter { word in !Self.days.contains { word.starts(with: $0.utf8) } }
        guard zones.allSatisfy({ $0.elementsEqual("GMT".utf8) }), !zones.isEmpty || !text.contains(",")
        else { return nil }
        self = date
    }

    /// A date of a cookie, in nearly any format (RFC 6265 §5.1.1).
    init?(cookieDate text: String) {
        guard let date = Self.parse(text)?.date, Self.calendar.component(.year, from: date) > 1600 else { return nil }
        self = date
    }

    /// The date whose parts stand in any order, and the words that do not belong to it.
    private static func parse(_ text: String) -> (date: Date, rest: [Substring.UTF8View])? {
        var parts = DateComponents(calendar: calendar)
        var time: [Int]?
        var rest: [Substring.UTF8View] = []
        for word in text.utf8.split(whereSeparator: "\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~".utf8.contains) {
            if time == nil, let found = word.time {
                time = found
            } else if parts.day == nil, let day = word.number(of: 1...2) {
                parts.day = day
            } else if parts.month == nil, let month = months.firstIndex(of: word.opening) {
                parts.month = month + 1
            } else if parts.year == nil, let year = word.number(of: 4...4), year > 0 {
                parts.year = year
            } else if parts.year == nil, let year = word.number(of: 2...2) {
                parts.year = year + (year < 70 ? 2000 : 1900)
            } else {
                rest.append(word)
            }
        }
        // A leap second is in no calendar.
        guard let time, time[0] < 24, time[1] < 60, time[2] <= 60, parts.day != nil, parts.month != nil,
            parts.year != nil, parts.isValidDate, let day = parts.date
        else { return nil }
        return (day + TimeInterval(time[0] * 3600 + time[1] * 60 + time[2]), rest)
    }

    /// As `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside the years 1 to 9999.
    var httpDate: String? {
        guard -62_135_596_800..<253_402_300_800 ~= timeIntervalSince1970 else { return nil }
        return formatted(Self.httpFormat)
    }
}

extension Substring.UTF8View {
    /// The number at the beginning, if it has so many digits.
    fileprivate func number(of count: ClosedRange<Int>) -> Int? {
        let digits = prefix(while: \.isDigit)
        return count.contains(digits.count) ? Int(Substring(digits)) : nil
    }

    /// Hour, minute and second, whatever follows.
    fileprivate var time: [Int]? {
        let parts = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.number(of: 1...2) }
        return numbers.count == 3 && parts[..<2].allSatisfy { $0.allSatisfy(\.isDigit) } ? numbers : nil
    }

    /// The part that names a month.
    fileprivate var opening: String { String(decoding: prefix(3), as: UTF8.self).lowercased() }
}
