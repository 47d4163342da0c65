/// Ends the run with what differs.
///
/// A `precondition` does not print it in a release build.
func require(_ condition: Bool, _ difference: @autoclosure () -> String) {
    if !condition { fatalError(difference()) }
}
