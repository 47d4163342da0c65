extension Date {
    /// A date as HTTP writes it (RFC 9110 §5.6.7), in any of its three formats; `nil` for anything else.
    init?(httpDate text: String) {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.isLenient = false
        let formats = ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"]
        for format in formats {
            formatter.dateFormat = format
            // It reads more than that, such as a year of two digits for one of four, but does not write it.
            if let date = formatter.date(from: text), formatter.string(from: date) == text.replacing("  ", with: " ") {
                self = date
                return
            }
        }
        return nil
    }
}
