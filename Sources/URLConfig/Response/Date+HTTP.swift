/// Dates as HTTP writes them (RFC 9110 §5.6.7).
extension Date {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let httpMonths = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    static let httpCalendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// A date in any of HTTP's three formats; `nil` for anything else.
    ///
    /// - Parameters:
    ///   - text: The date. Separators are taken as equal, since `06-Nov-1994` is common.
    ///   - now: What a year of two digits is near to.
    init?(httpDate text: String, now: Date = Date()) {
        // No date is longer, and to compare text with thousands of combining marks takes very long.
        guard text.utf8.count <= 64 else { return nil }
        let words = text.utf8.split { " ,-:".utf8.contains($0) }.map { String(Substring($0)) }
        guard let weekday = words.first, Self.days.contains(where: weekday.hasPrefix) else { return nil }
        let (date, time): ([String], ArraySlice<String>)
        switch words.count {
        case 8 where words[7] == "GMT": (date, time) = ([words[1], words[2], words[3]], words[4..<7])
        case 7: (date, time) = ([words[2], words[1], words[6]], words[3..<6])
        default: return nil
        }
        let numbers = time.compactMap(\.digits)
        guard numbers.count == 3, let day = date[0].digits, let month = Self.httpMonths.firstIndex(of: date[1]),
            let year = date[2].year(now: Self.httpCalendar.component(.year, from: now)),
            // Years of two digits go with days that are not abbreviated.
            date[2].utf8.count == 4 || weekday.utf8.count > 3
        else { return nil }
        // A leap second is in no calendar.
        let isLeap = numbers[2] == 60
        let parts = DateComponents(
            calendar: Self.httpCalendar, year: year, month: month + 1, day: day, hour: numbers[0], minute: numbers[1],
            second: isLeap ? 59 : numbers[2])
        guard parts.isValidDate, let date = parts.date else { return nil }
        self = isLeap ? date + 1 : date
    }

    /// As `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside the years 1 to 9999.
    var httpDate: String? {
        guard -62_135_596_800..<253_402_300_800 ~= timeIntervalSince1970 else { return nil }
        let parts = Self.httpCalendar.dateComponents(
            [.weekday, .day, .month, .year, .hour, .minute, .second], from: self)
        guard let weekday = parts.weekday, let day = parts.day, let month = parts.month, let year = parts.year,
            let hour = parts.hour, let minute = parts.minute, let second = parts.second
        else { return nil }
        let time = [hour, minute, second].map { $0.padded(2) }.joined(separator: ":")
        return "\(Self.days[weekday - 1]), \(day.padded(2)) \(Self.httpMonths[month - 1]) \(year.padded(4)) \(time) GMT"
    }
}

extension String {
    /// The number that these one to four digits are.
    fileprivate var digits: Int? {
        1...4 ~= utf8.count && utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(self) : nil
    }

    /// The year that these four digits are, or two: of those, what would be more than 50 years ahead is in the past.
    fileprivate func year(now: Int) -> Int? {
        guard let year = digits else { return nil }
        switch utf8.count {
        case 4: return year > 0 ? year : nil
        case 2: return now + 50 - (now + 50 - year) % 100
        default: return nil
        }
    }
}

extension Int {
    fileprivate func padded(_ count: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, count - digits.count)) + digits
    }
}
