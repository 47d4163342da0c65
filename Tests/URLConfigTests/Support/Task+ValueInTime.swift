extension Task where Failure == any Error {
    /// The value; the task is cancelled when the test's time is up, which cancels only the test's own task.
    var valueInTime: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}
