@preconcurrency import Dispatch

/// Signals that the process acts on itself.
///
/// libdispatch reads them by signalfd(2). It also takes care of what makes a signalfd of our own unreliable: a signal must be
/// blocked in every thread, and the threads of the runtime exist before anybody can block it there.
enum ProcessSignals {
    private static let queue = DispatchQueue(label: "signals")

    /// The signals that come from now on, in their order. Equal ones that come faster than they are read count once.
    ///
    /// Returns when they are caught: none of them has its usual effect from then on, as long as the stream is held.
    static func caught(_ signals: [Int32]) async -> AsyncStream<Int32> {
        let (stream, arrivals) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
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
