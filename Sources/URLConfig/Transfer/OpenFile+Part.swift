extension OpenFile {
    private static let mostAttempts = 16

    /// Opens or creates the part of a target, and locks it.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another download has it; `URLError`
    ///   with code `.cannotOpenFile` or `.cannotCreateFile`.
    static func part(of target: DownloadTarget) throws -> OpenFile {
        // Another download may finish, and so move or remove the file, between two of the steps.
        for _ in 0..<mostAttempts {
            guard let (file, isNew) = try openOrCreate(target) else { continue }
            guard try lock(file, target) else { throw busy(target) }
            // Only with the lock, the name cannot get another file.
            guard file.hasName(target.part) else { continue }
            if try isNew || file.status().isOwnFile { return file }
            // Writing to it could change the finished file, or let somebody else read or write the new one.
            try target.attempt(.cannotCreateFile, "'\(target.name).part' cannot be replaced") {
                try POSIXError.unlink(target.part)
            }
        }
        throw busy(target)
    }

    /// `nil` if another process did the same.
    private static func openOrCreate(_ target: DownloadTarget) throws -> (file: OpenFile, isNew: Bool)? {
        let file: OpenFile
        do {
            file = try OpenFile(target.part, O_WRONLY | O_APPEND)
        } catch let error where error.code == .ENOENT {
            do {
                return (try OpenFile(target.part, O_WRONLY | O_APPEND | O_CREAT | O_EXCL), true)
            } catch let error where error.code == .EEXIST {
                return nil
            } catch {
                throw URLError(.cannotCreateFile, "'\(target.name).part' cannot be created", error)
            }
        } catch let error where error.code == .ELOOP {
            throw URLError(.cannotOpenFile, "'\(target.name).part' is a symbolic link; remove it", error)
        } catch {
            throw URLError(.cannotOpenFile, "'\(target.name).part' cannot be opened", error)
        }
        guard try file.status().isRegular else {
            throw URLError(.cannotOpenFile, "'\(target.name).part' is not a regular file; remove it")
        }
        return (file, false)
    }

    /// `false` if it is locked already.
    private static func lock(_ file: OpenFile, _ target: DownloadTarget) throws -> Bool {
        do {
            try file.lock()
            return true
        } catch let error where error.code == .EWOULDBLOCK {
            return false
        } catch {
            throw URLError(.cannotOpenFile, "'\(target.name).part' cannot be locked", error)
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
