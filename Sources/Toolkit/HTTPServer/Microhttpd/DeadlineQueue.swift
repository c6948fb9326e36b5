/// Connections that all have the same time to get on, in the order in which their time runs out.
///
/// Because the time is the same for all, the last one in is the last one out, and both are a matter of two pointers: no
/// heap, no allocation, however often a connection moves. The queue does not keep its members alive; they take
/// themselves out.
struct DeadlineQueue {
    private let allowance: Int64
    private(set) var first: Unmanaged<HTTPConnection>?
    private var last: Unmanaged<HTTPConnection>?

    init(allowance: Duration) {
        self.allowance = allowance.wholeNanoseconds
    }

    /// The time of the one whose turn is next.
    var next: MonotonicTime? { first?._withUnsafeGuaranteedRef { $0.deadline } }

    mutating func append(_ peer: HTTPConnection, now: MonotonicTime) {
        peer.deadline = MonotonicTime(nanoseconds: now.nanoseconds &+ allowance)
        peer.previous = last
        peer.next = nil
        let new = Unmanaged.passUnretained(peer)
        if let last {
            last._withUnsafeGuaranteedRef { $0.next = new }
        } else {
            first = new
        }
        last = new
    }

    mutating func remove(_ peer: HTTPConnection) {
        if let previous = peer.previous {
            previous._withUnsafeGuaranteedRef { $0.next = peer.next }
        } else {
            first = peer.next
        }
        if let next = peer.next {
            next._withUnsafeGuaranteedRef { $0.previous = peer.previous }
        } else {
            last = peer.previous
        }
        peer.previous = nil
        peer.next = nil
    }
}
