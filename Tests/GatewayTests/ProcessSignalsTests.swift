import Glibc
import Testing

@testable import Gateway

@Suite("Signals of the process") struct ProcessSignalsTests {
    @Test("are delivered in order, and do not end the process")
    func order() async {
        // No other code uses these two signals, and only the stream decides their effect.
        let stream = await ProcessSignals.caught([SIGUSR1, SIGUSR2])
        var signals = stream.makeAsyncIterator()
        for signal in [SIGUSR1, SIGUSR2, SIGUSR1] {
            #expect(kill(getpid(), signal) == 0)
            #expect(await signals.next() == signal)
        }
    }
}
