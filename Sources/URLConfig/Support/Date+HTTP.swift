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
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let lowercasedMonths = months.map { $0.lowercased() }
    /// The year 1601 (RFC 6265 §5.1.1).
    private static let firstOfCookies: TimeInterval = -11_644_473_600

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
        guard let date = Self.parse(text, isOfCookie: true)?.date, date.timeIntervalSince1970 >= Self.firstOfCookies
        else { return nil }
        self = date
    }

    /// Parses a date with its parts in any order; `rest` is the words that are not part of the date.
    ///
    /// The date of a cookie has no leap second, and its year 0001 is 2001.
    private static func parse(
        _ text: String, isOfCookie: Bool = false
    ) -> (date: Date, rest: [Substring.UTF8View])? {
        var (time, day, month, year) = ([Int]?.none, Int?.none, Int?.none, Int?.none)
        var rest: [Substring.UTF8View] = []
        for word in text.utf8.split(whereSeparator: \.isDelimiterOfDate) {
            if time == nil, let found = word.time {
                time = found
            } else if day == nil, let found = word.number(of: 1...2) {
                day = found
            } else if month == nil, let index = lowercasedMonths.firstIndex(of: Substring(word.prefix(3)).lowercased())
            {
                month = index + 1
            } else if year == nil, let found = word.number(of: 4...4), found > (isOfCookie ? 99 : 0) {
                year = found
            } else if year == nil, let found = word.number(of: isOfCookie ? 2...4 : 2...2) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            } else {
                rest.append(word)
            }
        }
        guard let time, time[0] < 24, time[1] < 60, time[2] <= (isOfCookie ? 59 : 60), let day, let month, let year,
            let date = Date(year: year, month: month, day: day)
        else { return nil }
        return (date + TimeInterval(time[0] * 3600 + time[1] * 60 + time[2]), rest)
    }

    /// The beginning of a day of the Gregorian calendar; `nil` if there is no such day.
    ///
    /// `Calendar` takes ten times as long, and has Julian days before 1582.
    private init?(year: Int, month: Int, day: Int) {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        self.init(timeIntervalSince1970: TimeInterval(timegm(&parts)))
        // It has made a day of the next month of February 30.
        guard parts.tm_mday == day else { return nil }
    }

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside the years 1 to 9999.
    var httpDate: String? {
        guard -62_135_596_800..<253_402_300_800 ~= timeIntervalSince1970 else { return nil }
        var (seconds, parts) = (time_t(timeIntervalSince1970.rounded(.down)), tm())
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0) }.joined(separator: ":")
        let (weekday, month) = (Self.days[Int(parts.tm_wday)], Self.months[Int(parts.tm_mon)])
        return "\(weekday), \(digits(parts.tm_mday)) \(month) \(digits(parts.tm_year + 1900, 4)) \(clock) GMT"
    }
}

extension UInt8 {
    /// RFC 6265 §5.1.1.
    fileprivate var isDelimiterOfDate: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
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
        guard contains(UInt8(ascii: ":")) else { return nil }
        let parts = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.number(of: 1...2) }
        return numbers.count == 3 && parts[..<2].allSatisfy { $0.allSatisfy(\.isDigit) } ? numbers : nil
    }
}
