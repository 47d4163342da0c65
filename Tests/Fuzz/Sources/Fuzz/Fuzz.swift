import Foundation

/// A parser of hostile input, with what must be true for each input.
struct Target: Sendable {
    static let all: [Self] = [
        .path, .url, .fields, .cookies, .dates, .links, .json, .response, .known, .masking, .events, .lines, .ranges,
        .multipart, .archive, .template, .caching, .entries,
    ]

    let name: String
    private let check: @Sendable (inout Input) -> Void

    init(_ name: String, _ check: @escaping @Sendable (inout Input) -> Void) {
        (self.name, self.check) = (name, check)
    }

    func check(_ bytes: [UInt8]) {
        var input = Input(bytes)
        check(&input)
    }

    /// Checks the input that has these bytes again and again, and its time: it may grow only with the length.
    func checkTime(_ bytes: [UInt8]) {
        let many = Array(repeatElement(bytes, count: Self.longest / max(1, bytes.count)).joined())
        let start = clock()
        check(many)
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        require(seconds < Self.mostSeconds, "\(many.count) bytes take \(seconds) s")
    }

    private static let longest = 1 << 16
    /// Linear work takes a few hundredths of it.
    private static let mostSeconds = 2.0
}

/// Ends the process if a property does not hold; libFuzzer then writes the input to a file.
func require(
    _ property: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    guard !property else { return }
    fatalError(message().debugDescription, file: file, line: line)
}

private let target: Target = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = Target.all.first(where: { $0.name == name }) else {
        print(Target.all.map(\.name).joined(separator: " "))
        // libFuzzer calls a normal exit a failure.
        fflush(nil)
        _exit(name.isEmpty ? 0 : 2)
    }
    return target
}()

/// libFuzzer uses one thread.
private nonisolated(unsafe) var count = 0

/// Called by libFuzzer with each input.
///
/// The first input and each 16,384th are also long; so an input that is too slow is found again when it is run alone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: length))
    target.check(bytes)
    if count & 0x3FFF == 0, !bytes.isEmpty { target.checkTime(bytes) }
    count += 1
    return 0
}
