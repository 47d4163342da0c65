import BenchmarkContent
import URLConfig

/// A large file that takes little space: each megabyte begins with its number, and has only zeros after that.
///
/// It is removed when it is released.
final class SparseFile {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("URLConfig-\(UUID()).bin")
    private let megabytes: Int

    init(size: Int) throws {
        megabytes = size >> 20
        try Data().write(to: url)
        let handle = try FileHandle(forWritingTo: url)
        for index in 0..<megabytes {
            try handle.seek(toOffset: UInt64(index) << 20)
            try withUnsafeBytes(of: index) { try handle.write(contentsOf: Data($0)) }
        }
        try handle.truncate(atOffset: UInt64(megabytes) << 20)
        try handle.close()
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var checksum: Checksum {
        var checksum = Checksum()
        add(to: &checksum)
        return checksum
    }

    func add(to checksum: inout Checksum) {
        for index in 0..<megabytes {
            withUnsafeBytes(of: index) { checksum.add($0) }
            checksum.addZeros(1 << 20 - MemoryLayout.size(ofValue: index))
        }
    }
}

/// A form with a large file.
struct LargeForm {
    let form: MultipartForm
    let checksum: Checksum
    private let file: SparseFile

    init(_ file: SparseFile) throws {
        self.file = file
        let empty = MultipartForm()
        var (form, frame) = (empty, empty)
        form.append("film", file: file.url, filename: "film.bin")
        // The same form with an empty file has the bytes before and after the file.
        frame.append("film", data: Data(), filename: "film.bin")
        self.form = form
        let request = URLRequest.with {
            ($0.url, $0.method, $0.body) = (URL(string: "http://localhost"), .post, .multipart(frame))
        }
        guard let body = request.httpBody, let start = body.firstRange(of: Data("\r\n\r\n".utf8))?.upperBound else {
            throw CocoaError(.formatting)
        }
        var checksum = Checksum()
        body[..<start].withUnsafeBytes { checksum.add($0) }
        file.add(to: &checksum)
        body[start...].withUnsafeBytes { checksum.add($0) }
        self.checksum = checksum
    }
}
