import Foundation
import HTTPTypes

@testable import URLConfig

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let resource = URL(string: "https://h.example/a")!
private let requested = 1_800_000_000.0

extension HTTPFields {
    /// Fields with any values; the last ones also have any names.
    fileprivate init(_ input: inout Input, after first: [(String, String)] = []) {
        let names = [
            "Cache-Control", "Age", "Expires", "Date", "Vary", "ETag", "Last-Modified", "Connection", "Content-Length",
            "Content-Encoding", "Cache-Control",
        ]
        let others = input.text().split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return ("\(parts[0])", parts.count > 1 ? "\(parts[1])" : "")
        }
        self.init(received: first + names.map { ($0, input.text()) }.filter { !$0.1.isEmpty } + others)
    }
}

extension Target {
    /// `Cache-Control` and all that decides about a stored response: what must not be reused never is.
    static let caching = Self("caching") { input in
        let statuses = [200, 204, 206, 301, 302, 304, 404, 418, 500, 503, 299, 600].map {
            HTTPResponse.Status(code: $0)
        }
        let (status, newStatus) = (input.element(of: statuses), input.element(of: statuses))
        let planted = input.element(of: [nil, "no-store", "no-cache", "must-revalidate", "max-age=60", "private"])
        let (received, now) = (
            requested + input.element(of: [0, 0.5, 2, -5]), requested + input.element(of: [0, 3, 100, 1e6, 1e12, -9])
        )
        var request = URLRequest(url: resource)
        request.cachePolicy = input.element(of: [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
            .returnCacheDataDontLoad, .reloadRevalidatingCacheData,
        ])
        for name in ["Cache-Control", "Pragma", "Accept"] {
            let value = input.text()
            if !value.isEmpty { request.setValue(value, forHTTPHeaderField: name) }
        }
        let fields = HTTPFields(&input, after: planted.map { [("Cache-Control", $0)] } ?? [])
        let head = CachePolicy.head(status, fields, to: request, .known, requested: requested, received: received)
        // `Vary: *` matches nothing.
        let isMatching = CachePolicy.matches(head, request, .known)
        require(isMatching == (head.selecting["*"] == nil), "\(head) and its own request: \(isMatching)")
        let refusal = CachePolicy.refusal(head, to: request, keepsStale: true)
        if planted == "no-store", !(fields[.cacheControl] ?? "").lowercased().contains("must-understand") {
            require(refusal != nil, "\(head) is stored")
        }
        require(refusal == nil || CachePolicy.refusal(head, to: request, keepsStale: false) != nil, "\(head) is stored")
        let (age, lifetime) = (CachePolicy.age(of: head, at: now), head.lifetime)
        require(age >= 0 && lifetime >= 0 && lifetime.isFinite, "\(head) has the age \(age) and \(lifetime)")
        let use = CachePolicy.use(head, for: request, at: now)
        require(use != .fresh || lifetime > age, "\(head) is fresh")
        if planted == "no-cache" { require([.validate, .ignore].contains(use), "\(head): \(use)") }
        if planted == "must-revalidate" { require([.validate, .ignore, .fresh].contains(use), "\(head): \(use)") }
        if planted == "no-cache" || planted == "must-revalidate" {
            let replaces = CachePolicy.mayReplaceFailure(head, for: request, within: .seconds(1 << 40), at: now)
            require(!replaces, "\(head) replaces a failure")
        }
        var conditional = request
        CachePolicy.addConditions(head, to: &conditional)
        for name in ["If-None-Match", "If-Modified-Since"] {
            require(conditional.value(forHTTPHeaderField: name)?.hasBreak != true, "\(conditional)")
        }

        let newFields = HTTPFields(&input)
        let new = CachePolicy.updated(
            head, by: newStatus, newFields, to: request, .known, requested: received, received: now)
        if let new {
            for name in [HTTPField.Name.contentLength, .contentEncoding] {
                require(new.fields[values: name] == head.fields[values: name], "\(head) becomes \(new)")
            }
            require(new.variant == head.variant && new.status == head.status, "\(head) becomes \(new)")
            // Otherwise the server has said how old it is.
            if new.fields[.age] == nil, newFields[.date] == nil {
                let age = CachePolicy.age(of: new, at: now)
                require(age < max(0, now - received) + 1, "\(new) is old")
            }
        }
        request.httpMethod = "POST"
        for url in CachePolicy.invalidated(by: request, newStatus, newFields) {
            require(Origin(url) == Origin(request.url), "\(url) is of another origin")
        }
        let record = DiskEntry.Record(length: 0, checksum: 0, head: new ?? head)
        guard let bytes = (try? record.encoded()).flatMap({ $0 }) else { return }
        require(entry(bytes)?.record.head == record.head, "\(record.head) is another one after it was stored")
    }

    /// Files of the cache on the disk: a changed one is none, or has the same body.
    static let entries = Self("entries") { input in
        let (mode, place) = (input.number(below: 3), input.number(below: 256) << 8 | input.number(below: 256))
        let change = UInt8(input.number(below: 255) + 1)
        let (body, rest) = (Data(input.part()), input.bytes())
        var checksum = Checksum()
        checksum.add(body)
        var head = StoredResponse.Head()
        head.fields[.eTag] = String(decoding: rest, as: UTF8.self)
        let record = DiskEntry.Record(length: Int64(body.count), checksum: checksum.value, head: head)
        guard let end = (try? record.encoded()).flatMap({ $0 }) else { return }
        switch mode {
        case 0:
            _ = entry(body + [0xFF] + rest).map(content)
        case 1:
            // Whoever knows the format writes any JSON; the digest has no secret key.
            let json = String(decoding: rest, as: UTF8.self)
            let mark = end.suffix(from: end.lastIndex(of: UInt8(ascii: "}"))! + 33)
            let count = UInt64(json.utf8.count).hexDigits
            let file = body + Data(json.utf8) + Data("\(count)\(Digest(json).value.hexDigits)".utf8) + mark
            guard let found = entry(file) else { return }
            require(0...Int64(body.count) ~= found.record.length, "\(found.record)")
            if let content = content(of: found) { require(content == body.prefix(content.count), "\(found.record)") }
        default:
            var file = body + end
            guard let whole = entry(file) else { fatalError("\(record) cannot be read") }
            require(content(of: whole) == body && whole.record.head == head, "\(record) is \(whole.record)")
            file[place % file.count] ^= change
            guard let found = entry(file) else { return }
            require(found.record.head == head, "\(record) is \(found.record)")
            if let content = content(of: found) { require(content == body, "another body of \(record)") }
        }
    }

    private static func entry(_ bytes: Data) -> DiskEntry? {
        var count: Int64 = 0
        // On Linux, files in this folder are in memory.
        let isInMemory = FileManager.default.fileExists(atPath: "/dev/shm")
        let folder = isInMemory ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
        guard let file = try? File.temporary(in: folder), (try? file.append(bytes, count: &count)) != nil else {
            fatalError("no file can be written")
        }
        return try? DiskEntry(file)
    }

    /// `nil` if the body cannot be read.
    private static func content(of entry: DiskEntry) -> Data? {
        guard let body = try? entry.body(onError: {}) else { return nil }
        let (content, end) = (Locked(Data?.none), DispatchSemaphore(value: 0))
        Task {
            let data = try? await body.collect()
            content.set(\.self, data)
            end.signal()
        }
        end.wait()
        return content.withLock { $0 }
    }
}
