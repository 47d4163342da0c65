extension Task where Failure == any Error {
    /// The value; the task is cancelled when the test's time is up, which nothing but its own task learns of.
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
