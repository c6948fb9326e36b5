internal import Locking

/// The closure of a subscription, and what is needed to subscribe again on another connection to a server.
final class Receiver: Sendable {
    /// The receivers that messages of the library belong to.
    static let table = CallbackTable<Receiver>()

    let subject: String
    let pendingBytes: Int
    let gate: CallbackGate<[UInt8]>
    private let session: Session
    private let dropped = Lock<Int64>(0)

    init(_ session: Session, subject: String, pendingBytes: Int, _ receive: @escaping @Sendable ([UInt8]) -> Void) {
        self.session = session
        self.subject = subject
        self.pendingBytes = pendingBytes
        gate = CallbackGate(receive)
    }

    /// Prepares for another subscription of the library, whose number of dropped messages starts at 0.
    func prepare() { dropped.withLock { $0 = 0 } }

    /// Receives a message.
    ///
    /// - Parameter count: the number of messages of the subscription that the library has dropped so far.
    func receive(_ payload: [UInt8], dropped count: Int64) {
        let isMore = dropped.withLock { dropped in
            defer { dropped = max(dropped, count) }
            return count > dropped
        }
        // The library reports only the first of several dropped messages.
        if isMore { session.messagesAreDropped() }
        gate.call(payload)
    }
}
