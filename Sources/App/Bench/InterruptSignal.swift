import CLinux
import Glibc

/// Whether somebody wants the measurement to end: what it made on the server is removed first.
enum InterruptSignal {
    // Safe to share: one word, set once by a signal handler and only read elsewhere; late by a turn does no harm.
    private nonisolated(unsafe) static var asked: sig_atomic_t = 0

    static var isAsked: Bool { asked != 0 }

    /// The first signal asks, the second ends the process as usual.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                InterruptSignal.asked = 1
                signal(number, SIG_DFL)
            }
        }
    }
}
