import Testing

extension Task where Failure == any Error {
    /// The value; the task is cancelled when the test's time is up, which cancels only the test's own task.
    var valueInTime: Success {
        get async throws {
            try await withTaskCancellationHandler(operation: { try await value }, onCancel: { cancel() })
        }
    }

    /// Cancels this task, which ends with that.
    func expectCancelled(sourceLocation: SourceLocation = #_sourceLocation) async {
        cancel()
        await #expect(throws: _Concurrency.CancellationError.self, sourceLocation: sourceLocation) {
            try await valueInTime
        }
    }
}
