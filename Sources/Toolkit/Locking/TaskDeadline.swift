extension Task where Failure == Never {
    /// Waits for the value of the task, for a limited time. The task continues after that time.
    ///
    /// - Parameters:
    ///   - duration: the maximum time to wait.
    ///   - clock: measures the time.
    /// - Returns: the value; nil when the time has passed or the waiting task was cancelled.
    public func value(within duration: Duration, on clock: any Clock<Duration> = ContinuousClock()) async -> Success? {
        let (results, continuation) = AsyncStream<Success?>.makeStream(bufferingPolicy: .bufferingOldest(1))
        // Neither task is a child of the waiting task, which would then wait for both.
        let waiter = Task<Void, Never> { continuation.yield(await self.value) }
        let timer = Task<Void, Never> {
            // The sleep ends early only when it is cancelled, and the result is then known.
            try? await clock.sleep(for: duration)
            continuation.yield(nil)
        }
        defer {
            waiter.cancel()
            timer.cancel()
        }
        for await result in results { return result }
        return nil
    }
}
