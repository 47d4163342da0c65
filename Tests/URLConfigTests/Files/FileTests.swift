import Testing

@testable import URLConfig

/// An open file, and what callers are told when the system refuses something.
@Suite struct FileTests {
    private let folder = DownloadFolder()

    @Test func `it is unlocked even if another process inherits the descriptor`() throws {
        let file = folder.file.path()
        var copy: Int32 = -1
        defer { close(copy) }
        do {
            let first = try File(file, O_WRONLY | O_CREAT)
            #expect(try first.lock())
            #expect(try !File(file, O_WRONLY).lock())
            // A copy keeps the lock as an inherited descriptor does.
            copy = try #require(first.copy())
        }
        #expect(try File(file, O_WRONLY).lock())
    }

    @Test func `bytes are counted even if the next ones cannot be written`() throws {
        let file = try File(folder.file.path(), O_WRONLY | O_APPEND | O_CREAT)
        var count: Int64 = 0
        try file.append(Data(repeating: 1, count: 3_000_000), count: &count)
        #expect(count == 3_000_000)
        #expect(try file.status().size == 3_000_000)
        let reader = try File(folder.file.path(), O_RDONLY)
        #expect(throws: SystemError(code: EBADF)) { try reader.append(Data("x".utf8), count: &count) }
        #expect(count == 3_000_000)
    }

    @Test func `an error says what cannot be done, and why`() throws {
        let missing = folder.url.appending(components: "missing", "a.zip").path()
        let url = #expect(throws: URLError.self) {
            try File.attempt(.cannotOpenFile, "'a.zip' cannot be opened") { try File(missing, O_RDONLY) }
        }
        #expect(url?.code == .cannotOpenFile)
        #expect(url?.localizedDescription == "'a.zip' cannot be opened: No such file or directory")
        #expect((url?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOENT)
        // The caller has named a file that cannot be used.
        let input = expectThrown(.invalidRequest) {
            try File.attempt(nil, "'a.zip' cannot be read") { try File.Status(missing) }
        }
        #expect(input?.reason == "'a.zip' cannot be read: No such file or directory")
        #expect((input?.underlyingError as? POSIXError)?.code == .ENOENT)
        // Another error is not changed.
        #expect(throws: CancellationError.self) {
            try File.attempt(.cannotOpenFile, "'a.zip' cannot be opened") { throw CancellationError() }
        }
    }

    @Test func `bytes are read from an offset, and there are fewer at the end`() throws {
        try Data("0123456789".utf8).write(to: folder.file)
        let file = try File(folder.file.path(), O_RDONLY)
        for (offset, text) in [(0, "0123"), (7, "789"), (10, ""), (99, "")] as [(Int64, String)] {
            #expect(try file.bytes(at: offset, count: 4) == Data(text.utf8))
        }
    }

    @Test func `a link is followed only where that was asked for`() throws {
        try Data("x".utf8).write(to: folder.file)
        let link = folder.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file)
        #expect(throws: SystemError(code: ELOOP)) { try File(link.path(), O_RDONLY) }
        #expect(try File(link.path(), O_RDONLY, followsLinks: true).status().size == 1)
    }

    @Test func `a temporary file is private, and gone when it is released`() throws {
        do {
            let file = try File.temporary(in: folder.url)
            var count: Int64 = 0
            try file.append(Data("form".utf8), count: &count)
            for _ in 0..<2 { #expect(try file.stream().readToEnd() == Data("form".utf8)) }
            let copy = try #require(file.copy())
            defer { close(copy) }
            var found = stat()
            #expect(fstat(copy, &found) == 0)
            #expect(found.st_mode & 0o777 == 0o600)
        }
        #expect(try folder.names == [])
    }
}

extension File {
    /// Another descriptor of the same open file.
    fileprivate func copy() -> Int32? {
        guard let own = try? status() else { return nil }
        return (0..<getdtablesize()).lazy.filter { descriptor in
            var found = stat()
            return fstat(descriptor, &found) == 0 && File.Status(found).isSameFile(as: own)
        }.map { dup($0) }.first { $0 >= 0 }
    }
}
