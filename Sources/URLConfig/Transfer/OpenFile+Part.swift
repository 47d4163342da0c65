extension OpenFile {
    private static let mostAttempts = 16
    private static let mostNames = 8

    /// Opens or creates the part of a target, and locks it.
    ///
    /// Files that this library has not made are left alone; then the part gets another name.
    ///
    /// - Parameter target: It receives the name.
    /// - Returns: The part, and its description. Without one, the part is empty.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has it; `URLError`
    ///   with code `.cannotOpenFile` or `.cannotCreateFile`.
    static func part(of target: inout DownloadTarget) throws -> (OpenFile, Sidecar?) {
        while true {
            do {
                return try namedPart(of: target)
            } catch let error as POSIXError where error.code == .EEXIST && target.skipped + 1 < mostNames {
                target.skipped += 1
            } catch let error as POSIXError {
                var reason = "'\(target.partName)' cannot be opened"
                if error.code == .EEXIST { reason += "; remove it, because this library has not made it" }
                throw URLError(.cannotCreateFile, reason, error)
            }
        }
    }

    /// - Throws: `EEXIST` if there is something that this library has not made.
    private static func namedPart(of target: DownloadTarget) throws -> (OpenFile, Sidecar?) {
        // Another download may finish, and so move or remove the file, between two of the steps.
        for _ in 0..<mostAttempts {
            for path in [target.sidecar, target.newSidecar] { _ = try Sidecar.read(path) }
            guard let (file, isNew) = try openOrCreate(target) else { continue }
            guard try lock(file, target) else { throw busy(target) }
            // Only with the lock, the name cannot get another file.
            guard file.hasName(target.part) else { continue }
            if isNew { return (file, nil) }
            let (sidecar, status) = (try Sidecar.read(target.sidecar), try file.status())
            guard let sidecar, sidecar.describes(file) else {
                // The description of a part is written before its first byte.
                guard status.isOwnFile, status.size == 0 else { throw POSIXError(.EEXIST) }
                return (file, nil)
            }
            if status.isOwnFile { return (file, sidecar) }
            // Writing to it could change the finished file, or let somebody else read or write the new one.
            try target.attempt(.cannotCreateFile, "'\(target.partName)' cannot be replaced") {
                try POSIXError.unlink(target.part)
            }
        }
        throw busy(target)
    }

    /// `nil` if another process did the same.
    private static func openOrCreate(_ target: DownloadTarget) throws -> (file: OpenFile, isNew: Bool)? {
        do {
            return (try OpenFile(target.part, O_RDWR | O_APPEND), false)
        } catch let error where error.code == .ENOENT {
            do {
                return (try OpenFile(target.part, O_RDWR | O_APPEND | O_CREAT | O_EXCL), true)
            } catch let error where error.code == .EEXIST {
                return nil
            } catch {
                throw URLError(.cannotCreateFile, "'\(target.partName)' cannot be created", error)
            }
        } catch {
            guard let status = try? FileStatus(target.part), status.isOwnFile else { throw POSIXError(.EEXIST) }
            throw URLError(.cannotOpenFile, "'\(target.partName)' cannot be opened", error)
        }
    }

    /// `false` if it is locked already.
    private static func lock(_ file: OpenFile, _ target: DownloadTarget) throws -> Bool {
        do {
            try file.lock()
            return true
        } catch let error where error.code == .EWOULDBLOCK {
            return false
        } catch {
            throw URLError(.cannotOpenFile, "'\(target.partName)' cannot be locked", error)
        }
    }

    private static func busy(_ target: DownloadTarget) -> RequestError {
        .refused(.invalidRequest, "'\(target.name)' is being downloaded already; wait, or choose another name")
    }

    /// Whether a path still leads to this file.
    func hasName(_ path: String) -> Bool {
        guard let own = try? status(), let found = try? FileStatus(path) else { return false }
        return own.isSameFile(as: found)
    }
}
