extension HTTPFields {
    /// The date in a field, such as `Last-Modified` (RFC 9110 §5.6.7).
    ///
    /// ```swift
    /// let date = response.headerFields[date: .lastModified]
    /// let request = URLRequest.with(.api) { $0.headers[date: .ifModifiedSince] = date }
    /// ```
    ///
    /// All three formats of HTTP are read. Dates are written in whole seconds. Setting `nil` or a date outside the
    /// years 1 to 9999 removes the field.
    public subscript(date name: HTTPField.Name) -> Date? {
        get { self[name].flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}

/// Dates are written as RFC 9110 §5.6.7 says, and read by the algorithm for cookies (RFC 6265 §5.1.1).
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

    /// Parses a date in one of HTTP's three formats; small deviations are accepted.
    init?(httpDate text: String) {
        // Dates are shorter than 64 bytes.
        guard text.utf8.count <= 64, let (date, rest) = Self.parse(text) else { return nil }
        // Only GMT is accepted. The format of asctime, which has no comma, names no time zone.
        let zones = rest.filter { word in !Self.days.contains { word.starts(with: $0.utf8) } }
        guard zones.allSatisfy({ $0.elementsEqual("GMT".utf8) }), !zones.isEmpty || !text.contains(",")
        else { return nil }
        self = date
    }

    /// Parses the date of a cookie, in nearly any format (RFC 6265 §5.1.1).
    init?(cookieDate text: String) {
        guard let date = Self.parse(text, isOfCookie: true)?.date,
            Self.calendar.component(.year, from: date) > 1600
        else { return nil }
        self = date
    }

    /// Parses a date with its parts in any order; `rest` is the words that are not part of the date.
    ///
    /// The date of a cookie has no leap second, and its year 0001 is 2001.
    private static func parse(
        _ text: String, isOfCookie: Bool = false
    ) -> (date: Date, rest: [Substring.UTF8View])? {
        var parts = DateComponents(calendar: calendar)
        var time: [Int]?
        var rest: [Substring.UTF8View] = []
        for word in text.utf8.split(whereSeparator: "\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~".utf8.contains) {
            if time == nil, let found = word.time {
                time = found
            } else if parts.day == nil, let day = word.number(of: 1...2) {
                parts.day = day
            } else if parts.month == nil, let month = months.firstIndex(of: Substring(word.prefix(3)).lowercased()) {
                parts.month = month + 1
            } else if parts.year == nil, let year = word.number(of: 4...4), year > (isOfCookie ? 99 : 0) {
                parts.year = year
            } else if parts.year == nil, let year = word.number(of: isOfCookie ? 2...4 : 2...2) {
                parts.year = year < 70 ? year + 2000 : year < 100 ? year + 1900 : year
            } else {
                rest.append(word)
            }
        }
        // `Calendar` does not support leap seconds: the time is added to the day.
        guard let time, time[0] < 24, time[1] < 60, time[2] <= (isOfCookie ? 59 : 60), parts.day != nil,
            parts.month != nil, parts.year != nil, parts.isValidDate, let day = parts.date
        else { return nil }
        return (day + TimeInterval(time[0] * 3600 + time[1] * 60 + time[2]), rest)
    }

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside the years 1 to 9999.
    var httpDate: String? {
        guard -62_135_596_800..<253_402_300_800 ~= timeIntervalSince1970 else { return nil }
        return formatted(Self.httpFormat)
    }
}

extension Substring.UTF8View {
    /// The number at the start, if it has that many digits.
    fileprivate func number(of count: ClosedRange<Int>) -> Int? {
        let digits = prefix(while: \.isDigit)
        return count.contains(digits.count) ? Int(Substring(digits)) : nil
    }

    /// The hour, minute and second at the start.
    fileprivate var time: [Int]? {
        let parts = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.number(of: 1...2) }
        return numbers.count == 3 && parts[..<2].allSatisfy { $0.allSatisfy(\.isDigit) } ? numbers : nil
    }
}
