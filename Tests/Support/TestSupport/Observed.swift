import Locking
public import Testing

/// A value that callbacks and other threads change and a test waits for.
public final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        var isMet: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state: Monitor<State>

    public init(_ value: Value) { state = Monitor(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes all waiters whose condition it meets.
    @discardableResult
    public func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        let (result, ready) = state.withLock { state in
            let result = body(&state.value)
            let ready = state.waiters.filter { $0.value.isMet(state.value) }
            for key in ready.keys { state.waiters[key] = nil }
            return (result, ready.values.map(\.continuation))
        }
        state.wakeAll()
        for continuation in ready { continuation.resume() }
        return result
    }

    /// Waits until the value meets a condition and returns it. Records an issue when the time limit passes, and returns
    /// the current value. When the task is cancelled, returns the current value without an issue.
    @discardableResult
    public func wait(
        _ comment: Comment? = nil, within limit: Duration = waitLimit,
        sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable (Value) -> Bool
    ) async -> Value {
        let isOver = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.suspend(until: condition)
                return false
            }
            // Cancelled as soon as the condition holds.
            group.addTask { (try? await Task.sleep(for: limit)) != nil }
            let isOver = await group.next() ?? false
            group.cancelAll()
            return isOver
        }
        let value = self.value
        if isOver, !condition(value) { record(comment, limit, value, sourceLocation) }
        return value
    }

    /// Blocks the calling thread, which must not belong to the cooperative pool, until the value meets a condition.
    /// Records an issue when the time limit passes. Returns true when the condition was met.
    @discardableResult
    public func waitBlocking(
        _ comment: Comment? = nil, within limit: Duration = waitLimit,
        sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @Sendable (Value) -> Bool
    ) -> Bool {
        let deadline = MonotonicTime.now.nanoseconds + UInt64(limit / .nanoseconds(1))
        let (value, isMet) = state.wait { state -> WaitResult<(Value, Bool)> in
            if condition(state.value) { return .done((state.value, true)) }
            return MonotonicTime.now.nanoseconds < deadline ? .sleepUntil(deadline) : .done((state.value, false))
        }
        if !isMet { record(comment, limit, value, sourceLocation) }
        return isMet
    }

    private func record(_ comment: Comment?, _ limit: Duration, _ value: Value, _ location: SourceLocation) {
        Issue.record(comment ?? "not reached within \(limit): \(value)", sourceLocation: location)
    }

    private func suspend(until condition: @escaping @Sendable (Value) -> Bool) async {
        let key = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLock { state in
                    if Task.isCancelled || condition(state.value) { return true }
                    state.waiters[key] = Waiter(isMet: condition, continuation: continuation)
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?.continuation.resume()
        }
    }
}

extension Observed {
    /// Creates an empty list.
    public convenience init<Element>() where Value == [Element] { self.init([]) }

    public func append<Element: Sendable>(_ element: Element) where Value == [Element] {
        update { $0.append(element) }
    }

    /// Waits until there are this many elements.
    @discardableResult
    public func wait<Element>(
        count: Int, within limit: Duration = waitLimit, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> [Element] where Value == [Element] {
        await wait("fewer than \(count)", within: limit, sourceLocation: sourceLocation) { $0.count >= count }
    }
}

extension Observed<Int> {
    public func increment() { update { $0 += 1 } }
}

/// The default time limit of waits in tests. It is long because a busy machine is slow. A passing test never waits for
/// it.
public let waitLimit: Duration = .seconds(30)

/// Waits until a condition holds, by polling. Use it for changes that are not announced, such as a row in a store; use
/// an ``Observed`` value for the others.
///
/// Records an issue when the time limit passes, and returns early when the task is cancelled. Returns true when the
/// condition holds.
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
            // Yields the processor to the awaited work.
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return false }
        }
    }
    return true
}
