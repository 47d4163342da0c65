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
        get { single(name).flatMap { Date(httpDate: $0) } }
        set { self[name] = newValue?.httpDate }
    }
}

/// Dates are written as RFC 9110 §5.6.7 says, and read by the algorithm for cookies (RFC 6265 §5.1.1).
extension Date {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let lowercasedMonths = months.map { $0.lowercased() }
    private static let form = Array("___, __ ___ ____ __:__:__ GMT".utf8)
    /// The year 1601 (RFC 6265 §5.1.1).
    private static let firstOfCookies: TimeInterval = -11_644_473_600

    /// Parses a date in one of HTTP's three formats; small deviations are accepted.
    init?(httpDate text: String) {
        if let date = Self.usual(text) {
            self = date
            return
        }
        // Dates are shorter than 64 bytes.
        guard text.utf8.count <= 64, let (date, rest) = Self.parse(text) else { return nil }
        // Only GMT is accepted. The format of asctime, which has no comma, names no time zone.
        let zones = rest.filter { word in !Self.days.contains { word.starts(with: $0.utf8) } }
        guard zones.allSatisfy({ $0.elementsEqual("GMT".utf8) }), !zones.isEmpty || !text.contains(",")
        else { return nil }
        self = date
    }

    /// Parses the format that servers write, in which each part has its place; `parse` takes ten times as long.
    private static func usual(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == form.count, zip(bytes, form).allSatisfy({ $0 == $1 || $1 == UInt8(ascii: "_") }),
            days.contains(String(decoding: bytes[..<3], as: UTF8.self)),
            let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
            let day = bytes[5..<7].number, let year = bytes[12..<16].number, year > 0,
            let hour = bytes[17..<19].number, let minute = bytes[20..<22].number, let second = bytes[23..<25].number,
            hour < 24, minute < 60, second <= 60, let date = CivilDay(year, month + 1, day).date
        else { return nil }
        return date + TimeInterval(hour * 3600 + minute * 60 + second)
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
    ) -> (date: Date, rest: [ArraySlice<UInt8>])? {
        var (time, day, month, year) = ([Int]?.none, Int?.none, Int?.none, Int?.none)
        var rest: [ArraySlice<UInt8>] = []
        for word in Array(text.utf8).split(whereSeparator: \.isDelimiterOfDate) {
            if time == nil, let found = word.time {
                time = found
            } else if day == nil, let found = word.number(of: 1...2) {
                day = found
            } else if month == nil,
                let index = lowercasedMonths.firstIndex(
                    of: String(decoding: word.prefix(3), as: UTF8.self).lowercased())
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
            let date = CivilDay(year, month, day).date
        else { return nil }
        return (date + TimeInterval(time[0] * 3600 + time[1] * 60 + time[2]), rest)
    }

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside the years 1 to 9999.
    var httpDate: String? {
        guard -62_135_596_800..<253_402_300_800 ~= timeIntervalSince1970 else { return nil }
        let seconds = timeIntervalSince1970.rounded(.down)
        let days = (seconds / 86_400).rounded(.down)
        let (day, time) = (CivilDay(number: Int(days)), Int(seconds - days * 86_400))
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let clock = [time / 3600, time / 60 % 60, time % 60].map { digits($0) }.joined(separator: ":")
        // Year 1 began with a Monday.
        let (weekday, month) = (Self.days[(Int(days) + 719_163) % 7], Self.months[day.month - 1])
        return "\(weekday), \(digits(day.day)) \(month) \(digits(day.year, 4)) \(clock) GMT"
    }
}

/// A day of the Gregorian calendar in the years from 1.
///
/// `Calendar` takes ten times as long, and has Julian days before 1582. The C library has no days after 2038 on Apple
/// watches.
private struct CivilDay {
    let year: Int
    let month: Int
    let day: Int

    /// The days before 1970 of a calendar whose years begin in March: the leap day is the last one.
    private static let epoch = 719_468

    init(_ year: Int, _ month: Int, _ day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// - Parameter number: The number of days since 1970.
    init(number: Int) {
        let days = number + Self.epoch
        // The leap days of four years, of a century and of 400 years shorten the average.
        let (cycle, rest) = days.quotientAndRemainder(dividingBy: 146_097)
        let years = (rest - rest / 1_460 + rest / 36_524 - rest / 146_096) / 365
        let ofYear = rest - (365 * years + years / 4 - years / 100)
        let ofMarch = (5 * ofYear + 2) / 153
        day = ofYear - (153 * ofMarch + 2) / 5 + 1
        month = ofMarch < 10 ? ofMarch + 3 : ofMarch - 9
        year = cycle * 400 + years + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970.
    private var number: Int {
        let years = month <= 2 ? year - 1 : year
        // The months from March on have 31, 30, 31, 30, 31 days, twice and a bit.
        let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * years + years / 4 - years / 100 + years / 400 + ofYear - Self.epoch
    }

    /// Its beginning; `nil` if there is no such day.
    var date: Date? {
        guard 1...12 ~= month, day >= 1 else { return nil }
        let other = Self(number: number)
        guard other.day == day, other.month == month else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(number) * 86_400)
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

extension ArraySlice<UInt8> {
    /// The number, if there are only digits, at most four.
    fileprivate var number: Int? {
        allSatisfy(\.isDigit) ? reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }

    /// The number at the start, if it has that many digits.
    fileprivate func number(of count: ClosedRange<Int>) -> Int? {
        let digits = prefix(while: \.isDigit)
        return count.contains(digits.count) ? digits.number : nil
    }

    /// The hour, minute and second at the start.
    fileprivate var time: [Int]? {
        guard contains(UInt8(ascii: ":")) else { return nil }
        let parts = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.number(of: 1...2) }
        return numbers.count == 3 && parts[..<2].allSatisfy { $0.allSatisfy(\.isDigit) } ? numbers : nil
    }
}
