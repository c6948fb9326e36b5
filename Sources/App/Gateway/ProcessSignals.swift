@preconcurrency import Dispatch

/// Signals that the process handles itself.
///
/// libdispatch reads them with signalfd(2). A signalfd of our own would not work: a signal must be blocked in every thread,
/// and the runtime starts threads before `main`.
enum ProcessSignals {
    private static let queue = DispatchQueue(label: "signals")

    /// The signals that arrive from now on.
    ///
    /// Returns when all are caught. Their default action stays off from then on, also after the stream has ended. Equal
    /// signals that are pending together arrive once (signal(7)); the order of different ones is not defined.
    static func caught(_ signals: [Int32]) async -> AsyncStream<Int32> {
        let (stream, arrivals) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .unbounded)
        let sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (signal, source) in zip(signals, sources) {
            source.setEventHandler { arrivals.yield(signal) }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        arrivals.onTermination = { _ in
            for source in sources { source.cancel() }
        }
        return stream
    }
}
