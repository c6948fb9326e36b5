public import Testing

/// How long a wait of a test lasts at most, unless it says otherwise. Long, because a busy machine is slow; a test that
/// passes never waits for it.
public let waitLimit: Duration = .seconds(30)

/// Waits until a condition holds, by asking again and again: for what nothing announces, such as a row in a store. What
/// can announce itself is an ``Observed`` value.
///
/// Records an issue when the time is over, and returns early when the task is cancelled. Whether the condition
/// holds.
@discardableResult
public func waitUntil(
    _ comment: Comment? = nil, within limit: Duration = waitLimit, isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    var attempts = 0
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record(comment ?? "the condition did not hold within \(limit)", sourceLocation: sourceLocation)
            return false
        }
        attempts += 1
        if attempts < 100 {
            await Task.yield()
        } else {
            // Leaves the processor to what the test waits for.
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return false }
        }
    }
    return true
}
