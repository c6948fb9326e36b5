import Locking

/// Things that happened, in order; tests wait for a number of them.
public final class Ledger<Entry: Sendable>: Sendable {
    private struct State: Sendable {
        var entries: [Entry] = []
        var waiters: [UInt64: (@Sendable ([Entry]) -> Bool, CheckedContinuation<Void, Never>)] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    public init() {}

    public var entries: [Entry] { state.withLock { $0.entries } }

    public func append(_ entry: Entry) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let ready = state.waiters.filter { $0.value.0(state.entries) }
            for key in ready.keys { state.waiters[key] = nil }
            return ready.values.map(\.1)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Waits until the condition holds. Returns what there is when it does, or when the time is over: the test's
    /// expectations then say what is missing.
    @discardableResult
    public func wait(
        within limit: Duration = .seconds(20), for condition: @escaping @Sendable ([Entry]) -> Bool
    ) async -> [Entry] {
        await withTaskGroup { group in
            group.addTask { await self.wait(untilHolds: condition) }
            // Cancelled as soon as the condition holds.
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        return entries
    }

    /// Waits until there are this many entries.
    @discardableResult
    public func wait(count: Int, within limit: Duration = .seconds(20)) async -> [Entry] {
        await wait(within: limit) { $0.count >= count }
    }

    private func wait(untilHolds condition: @escaping @Sendable ([Entry]) -> Bool) async {
        let key = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || condition(state.entries) { return true }
                    state.waiters[key] = (condition, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?.1.resume()
        }
    }
}
