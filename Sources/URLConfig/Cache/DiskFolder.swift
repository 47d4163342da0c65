/// The files of a ``DiskStore``: where they are, and which of them may be used or removed.
///
/// Other processes use the folder, too, so nothing is remembered here.
struct DiskFolder: Sendable {
    /// Where a response is: numbers, so that no name can lead to another folder.
    struct Place: Hashable, Sendable {
        let resource: UInt64
        let requester: UInt64
        let variant: UInt64

        fileprivate init?(_ resource: UInt64, _ name: String) {
            let digits = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard digits.count == 2, let requester = UInt64(hexDigits: digits[0]),
                let variant = UInt64(hexDigits: digits[1])
            else { return nil }
            (self.resource, self.requester, self.variant) = (resource, requester, variant)
        }

        /// `nil` if these are no digests.
        init?(_ key: CacheKey, _ head: StoredResponse.Head) {
            guard let resource = UInt64(hexDigits: key.resource.utf8) else { return nil }
            self.init(resource, "\(key.requester)-\(head.variant)")
        }

        var key: CacheKey { CacheKey(resource: resource.hexDigits, requester: requester.hexDigits) }
    }

    /// The most files for one URL; beyond them, those are removed whose requesters have not asked for long.
    static let filesOfResource = 1000
    /// What a small file takes on the disk.
    private static let block: Int64 = 4096
    private static let mark = Data("URLConfig cache salt\n".utf8)

    let root: String

    init(_ url: URL) {
        let path = url.path(percentEncoded: false)
        // With a slash at its end, a symbolic link would be followed.
        root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private func path(_ resource: UInt64) -> String { "\(root)/\(resource.hexDigits)" }

    func path(_ place: Place) -> String {
        "\(path(place.resource))/\(place.requester.hexDigits)-\(place.variant.hexDigits)"
    }

    func places(of resource: UInt64) throws -> [Place] {
        try File.names(in: path(resource)).compactMap { Place(resource, $0) }
    }

    /// All URLs that may have files.
    func resources() throws -> [UInt64] { try File.names(in: root).compactMap { UInt64(hexDigits: $0.utf8) } }

    /// Opens an existing file, unless somebody else has put it there.
    func file(_ place: Place, _ flags: Int32 = O_RDONLY) -> File? { ownFile(path(place), flags)?.file }

    private func ownFile(_ path: String, _ flags: Int32 = O_RDONLY) -> (file: File, status: File.Status)? {
        guard let file = try? File(path, flags), let status = try? file.status(), status.isOwnFile else { return nil }
        return (file, status)
    }

    /// Reads a file; one that is broken is removed.
    func entry(_ place: Place) -> DiskEntry? {
        guard let (file, status) = ownFile(path(place)) else { return nil }
        do {
            let entry = try DiskEntry(file, first: status)
            if entry.record.head.variant == place.variant.hexDigits { return entry }
        } catch {
            // Without memory or descriptors, for example, it may still be good.
            guard error as? SystemError == DiskEntry.broken else { return nil }
        }
        remove(place, file)
        return nil
    }

    /// Removes a response, if it is still there.
    func remove(_ place: Place, id: UInt64) {
        guard let file = file(place), let entry = try? DiskEntry(file), entry.record.id == id else { return }
        remove(place, file)
    }

    /// Removes the name of a file, if it has it still.
    func remove(_ place: Place, _ file: File) { if file.hasName(path(place)) { try? File.remove(path(place)) } }

    /// Removes a file, but nothing that somebody else has put there.
    func remove(_ place: Place) throws {
        if (try? File.Status(path(place)))?.isOwnFile == true { try File.remove(path(place)) }
    }

    func removeIfEmpty(_ resource: UInt64) { rmdir(path(resource)) }
}

extension DiskFolder {
    /// Creates the folder if necessary, and returns the salt of all processes that use it.
    ///
    /// - Parameter known: The salt of a folder that has vanished.
    func open(_ known: Data? = nil) throws -> Data {
        if (try? File.Status(root)) == nil, mkdir(root, 0o700) != 0 {
            // Whether there is one is found out next.
            try? FileManager.default.createDirectory(
                at: URL(filePath: root).deletingLastPathComponent(), withIntermediateDirectories: true)
            mkdir(root, 0o700)
        }
        let status = try File.Status(root)
        guard status.isDirectory else { throw SystemError(code: ENOTDIR) }
        guard status.isOwn else { throw SystemError(code: EPERM) }
        let path = "\(root)/salt"
        for _ in 0..<3 {
            if let salt = try salt(path) { return salt }
            let (file, made) = try newFile()
            var count: Int64 = 0
            let salt = known ?? Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            try file.append(Self.mark + salt, count: &count)
            try file.synchronize()
            // This fails if another process was faster.
            link(made, path)
        }
        throw SystemError(code: EAGAIN)
    }

    /// `nil` if there is none, or if it was cut.
    private func salt(_ path: String) throws -> Data? {
        guard (try? File.Status(path)) != nil else { return nil }
        let file = try File(path, O_RDONLY)
        let status = try file.status()
        let data = try file.bytes(at: 0, count: Self.mark.count + 33)
        // It has two names while it is made.
        guard status.isRegular, status.isOwn, data.starts(with: Self.mark.prefix(data.count)) else {
            throw SystemError(code: EEXIST)
        }
        if data.count == Self.mark.count + 32 { return Data(data.suffix(32)) }
        try File.remove(path)
        return nil
    }

    /// Creates a file for a response that arrives, which is removed with the object.
    func newFile() throws(SystemError) -> (File, path: String) {
        let path = "\(root)/new-\(UInt64.random(in: .min ... .max).hexDigits)"
        return (try File(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode: 0o600, isTemporary: true), path)
    }

    /// Gives a new file its place, and returns how much more room all files take.
    ///
    /// - Returns: `nil` if something else is there, or if another process has removed the folder at this moment.
    func move(_ new: String, to place: Place, size: Int64) throws(SystemError) -> Int64? {
        let (folder, path) = (path(place.resource), path(place))
        for _ in 0..<3 {
            mkdir(folder, 0o700)
            let (status, old) = (try? File.Status(folder), try? File.Status(path))
            // Somebody else may have made these.
            guard status.map({ $0.isDirectory && $0.isOwn }) ?? true, old?.isRegular ?? true else { return nil }
            let code = rename(new, path) == 0 ? 0 : errno
            if code == ENOENT { continue }
            guard code == 0 else { throw SystemError(code: code) }
            if old == nil { trim(place) }
            return Self.cost(size) - (old.map { Self.cost($0.size) } ?? 0)
        }
        return nil
    }

    /// Removes other files of a URL, or of a requester, if there are too many.
    private func trim(_ place: Place) {
        let places = (try? places(of: place.resource)) ?? []
        let own = places.filter { $0.requester == place.requester }
        removeOldest(own, beyond: MemoryStore.variants, MemoryStore.variants)
        removeOldest(places, beyond: Self.filesOfResource, Self.filesOfResource * 9 / 10)
    }

    private func removeOldest(_ places: [Place], beyond limit: Int, _ rest: Int) {
        guard places.count > limit else { return }
        let uses = places.map { (place: $0, time: (try? File.Status(path($0)))?.lastUse ?? 0) }
        for use in uses.sorted(by: { $0.time < $1.time }).dropLast(rest) { try? remove(use.place) }
    }

    private static func cost(_ size: Int64) -> Int64 { max(block, size) }

    /// Visits all files, removes the least recently used ones if they take too much, and returns what remains.
    func shrink(to capacity: Int64) -> Int64 {
        removeAbandoned()
        var found: [(place: Place, size: Int64, time: Int64)] = []
        for resource in (try? resources()) ?? [] {
            guard let places = try? places(of: resource) else { continue }
            for place in places {
                guard let status = try? File.Status(path(place)), status.isOwnFile else { continue }
                found.append((place, Self.cost(status.size), status.lastUse))
            }
            if places.isEmpty { removeIfEmpty(resource) }
        }
        var total = found.reduce(0) { $0 + $1.size }
        guard total > capacity else { return total }
        for file in found.sorted(by: { $0.time < $1.time }) where total > capacity / 10 * 9 {
            guard (try? remove(file.place)) != nil else { continue }
            total -= file.size
            removeIfEmpty(file.place.resource)
        }
        return total
    }

    /// Removes the new files of processes that have ended, whose locks are free.
    private func removeAbandoned() {
        // A file that was just created may not be locked yet. Where files cannot be locked, their age decides.
        let (recently, dayAgo) = (Int64.nanoseconds(before: 60), Int64.nanoseconds(before: 86_400))
        for name in (try? File.names(in: root)) ?? [] {
            let path = "\(root)/\(name)"
            guard name.hasPrefix("new-"), UInt64(hexDigits: name.utf8.dropFirst(4)) != nil,
                let (file, status) = ownFile(path), status.modified < recently
            else { continue }
            if (try? file.lock()) ?? (status.modified < dayAgo) { try? File.remove(path) }
        }
    }
}

extension File.Status {
    /// When a response was stored or used, in nanoseconds since 1970; 0 if that is not known.
    ///
    /// A time that is still to come is from a clock that was wrong, and must not keep a file for years. The clock of
    /// another computer, which has the disk, may be a little ahead.
    var lastUse: Int64 { modified > .nanoseconds(before: -60) ? 0 : modified }
}

extension Int64 {
    /// The time that was so many seconds ago, in nanoseconds since 1970.
    static func nanoseconds(before seconds: Double) -> Self {
        Self((Date().timeIntervalSince1970 - seconds) * 1e9)
    }
}
