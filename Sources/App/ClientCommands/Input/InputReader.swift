import Glibc
import Locking

/// Reads a descriptor on a separate thread, and returns batches of lines to one caller.
///
/// Reading stops while a few batches wait to be sent, so the memory use does not depend on the size of the input. When
/// the input pauses, the available lines are returned: `tail -f log | parley emit logs -` emits each line as it
/// arrives.
package final class InputReader: Sendable {
    private struct State {
        var waiting: [InputBatch] = []
        var reader: CheckedContinuation<InputBatch?, Never>?
        var isEnded = false
        /// The `errno` of a failed read; nil while reading succeeds.
        var failure: Int32?
    }

    private let state = Monitor(State())
    private static let waitingMost = 4
    /// The time for which an incomplete batch waits for the next line, in milliseconds.
    private static let timeoutMilliseconds: Int32 = 20

    /// Starts a thread that reads the descriptor.
    ///
    /// - Throws: a failure when the system cannot start a thread.
    package init(descriptor: Int32, limits: BatchSplitter.Limits) throws(CommandFailure) {
        let started = startThread(name: "parley-input") { [state] in
            Self.read(descriptor, BatchSplitter(limits), into: state)
        }
        guard started else { throw CommandFailure("the input cannot be read: no thread could be started") }
    }

    /// Returns the next batch; nil at the end of the input.
    ///
    /// - Throws: a failure when reading has failed. It is thrown after all lines that were read before were returned.
    package func next() async throws(CommandFailure) -> InputBatch? {
        let batch = await withCheckedContinuation { reader in
            let ready: InputBatch?? = state.withLock { state in
                if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                if state.isEnded { return .some(nil) }
                state.reader = reader
                return nil
            }
            if let ready { reader.resume(returning: ready) }
        }
        state.wakeOne()
        if batch == nil, let failure = state.withLock({ $0.failure }) {
            throw CommandFailure("the input cannot be read: \(String(cString: strerror(failure)))")
        }
        return batch
    }

    /// Makes the thread stop at its next read.
    package func close() {
        state.withLock { $0.isEnded = true }
        state.wakeAll()
    }

    private static func read(_ descriptor: Int32, _ cutter: consuming BatchSplitter, into state: Monitor<State>) {
        var cutter = cutter
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&input, 1, cutter.isEmpty ? -1 : timeoutMilliseconds)
            if ready < 0, errno == EINTR { continue }
            if ready == 0 {
                if let batch = cutter.flush(), !offer(batch, to: state) { return }
                continue
            }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            let failure = count < 0 ? errno : nil
            let batches = count > 0 ? cutter.batches(from: Array(buffer[..<count])) : cutter.finish()
            for batch in batches where !offer(batch, to: state) { return }
            if count <= 0 { return end(state, failure) }
        }
    }

    /// Waits until the queue can accept a batch. Returns false when the reader was closed.
    private static func offer(_ batch: InputBatch, to state: Monitor<State>) -> Bool {
        let reader: CheckedContinuation<InputBatch?, Never>?? = state.wait { state in
            if state.isEnded { return .done(nil) }
            if let reader = state.reader {
                state.reader = nil
                return .done(reader)
            }
            guard state.waiting.count < waitingMost else { return .sleep }
            state.waiting.append(batch)
            return .done(.some(nil))
        }
        guard let reader else { return false }
        reader?.resume(returning: batch)
        return true
    }

    private static func end(_ state: Monitor<State>, _ failure: Int32?) {
        let reader = state.withLock { state in
            state.isEnded = true
            state.failure = failure
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }
}
