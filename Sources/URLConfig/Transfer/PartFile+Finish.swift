extension PartFile {
    /// Checks the length of the file, and moves it into place in one step.
    ///
    /// - Throws: `URLError` with code `.networkConnectionLost` if bytes are missing, and ``RequestError`` with code
    ///   ``RequestError/Code/invalidRequest`` if there is a file that must not be overwritten; the part is kept.
    ///   `URLError` with code `.cannotMoveFile` or `.cannotWriteToFile` for other reasons.
    func finish() throws {
        try change { state, file in
            try checkLength(&state, file)
            try target.attempt(.cannotWriteToFile, "'\(target.name)' cannot be written") { try file.synchronize() }
            try didStep(.synchronized)
            guard file.hasName(target.part) else {
                throw URLError(.cannotMoveFile, "the part of '\(target.name)' was removed or replaced meanwhile")
            }
            try move()
            target.synchronizeFolder()
            try didStep(.moved)
            removeSidecar(state.sidecar)
            state.file = nil
        }
    }

    private func checkLength(_ state: inout State, _ file: OpenFile) throws {
        if let total = state.total, state.count < total {
            throw URLError(
                .networkConnectionLost, "only \(state.count) of \(total) bytes of '\(target.name)' have arrived")
        }
        guard try file.status().size == state.count else {
            discard(&state)
            throw changed
        }
    }

    private func move() throws {
        do {
            if target.overwrites {
                _ = try POSIXError.call { rename(target.part, target.path) }
            } else {
                try Self.moveExclusively(target.part, to: target.path, didLink: { try didStep(.linked) })
            }
        } catch let error as POSIXError where error.code == .EEXIST {
            throw target.alreadyExists
        } catch let error as POSIXError {
            throw URLError(.cannotMoveFile, "'\(target.name)' cannot be moved into place", error)
        }
    }

    /// Moves a file unless there is one with the new name.
    ///
    /// - Parameters:
    ///   - hardLink: Gives a file a second name, which some file systems cannot do.
    ///   - didLink: Called when the file has both names.
    /// - Throws: `POSIXError`, with code `EEXIST` if there is a file.
    static func moveExclusively(
        _ path: String, to newPath: String,
        hardLink: (String, String) -> Int32 = { link($0, $1) },
        didLink: () throws -> Void = {}
    ) throws {
        if hardLink(path, newPath) == 0 {
            try didLink()
            // The file is in place, so the other name does no harm if it cannot be removed.
            try? POSIXError.unlink(path)
        } else if errno == EEXIST || (try? FileStatus(newPath)) != nil {
            throw POSIXError(.EEXIST)
        } else {
            _ = try POSIXError.call { rename(path, newPath) }
        }
    }
}
