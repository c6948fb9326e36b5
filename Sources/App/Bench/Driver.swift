import CLinux
import Glibc
import Locking

/// Turns the wheel: takes answers, publishes what is due, reads what has come. All on one thread.
final class Driver {
    let plan: BenchPlan
    let target: Target
    let ledger: Ledger
    let streams: Streams
    let publishers: Publishers?
    let meter: ProcessMeter
    /// Tells the channels of this run from those of others.
    let run: String
    /// Told about a ready descriptor that a scenario added, by its tag.
    var onOther: ((UInt64) -> Void)?
    private(set) var memory = MemorySamples()

    private let poller: Poller
    private let alarm: Int32
    /// Whether events are published at present; when the next is due, with a pace; the channel of the next.
    private var isPublishing = false
    private var dueAt: UInt64 = 0
    private var channel = 0
    /// Events published beyond their deliveries at which publishers wait.
    private let window: Int

    /// Of the streams that are served before all others.
    private var first: Poller?

    /// Sockets read in one turn: what an answer to a publisher waits for at most.
    private static let readsPerTurn = 64
    /// Tags of descriptors that are no streams.
    private enum Tag {
        static let publishers = UInt64.max
        static let alarm = UInt64.max - 1
        static let first = UInt64.max - 2
    }
    /// Tags at and above this belong to ``onOther``.
    static let otherTags: UInt64 = 1 << 32

    /// - Parameter others: descriptors needed besides those of streams and publishers.
    init(
        _ plan: BenchPlan, streams count: Int? = nil, resumable: Range<Int> = 0..<0, hasPublishers: Bool = true,
        others: Int = 0
    ) throws(BenchFailure) {
        let count = count ?? plan.streams
        try plan.check()
        try Sockets.raiseLimit(to: count + plan.publishers + others + 32)
        signal(SIGPIPE, SIG_IGN)
        InterruptSignal.listen()
        self.plan = plan
        target = try Target(plan.url)
        meter = ProcessMeter(processes: plan.processes)
        try meter.check()
        run = String(uptimeNanoseconds(), radix: 36)
        poller = try Poller(capacity: Self.readsPerTurn)
        ledger = Ledger(readers: count, channels: plan.channels, publishers: plan.publishers)
        streams = try Streams(
            count, plan: plan, target: target, run: run, poller: poller, ledger: ledger,
            resumable: resumable)
        alarm = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
        poller.add(alarm, tag: Tag.alarm, events: EPOLLIN.rawValue)
        window = plan.inFlight > 0 ? (plan.inFlight - 1) * max(1, count / plan.channels) : .max
        guard hasPublishers else {
            publishers = nil
            return
        }
        let answers = try Poller(capacity: plan.publishers)
        poller.add(answers.descriptor, tag: Tag.publishers, events: EPOLLIN.rawValue)
        publishers = try Publishers(plan: plan, target: target, run: run, poller: answers, ledger: ledger)
    }

    deinit { close(alarm) }

    /// Has these streams, which are open, served before all others from now on: what is timed is the server, and not how
    /// long this program takes over thousands of others.
    func serveFirst(_ indices: Range<Int>) throws(BenchFailure) {
        let first = try Poller(capacity: Self.readsPerTurn)
        poller.add(first.descriptor, tag: Tag.first, events: EPOLLIN.rawValue)
        streams.move(indices, to: first)
        self.first = first
    }

    /// Watches a descriptor for ``onOther``.
    func watch(_ descriptor: Int32, tag: UInt64) { poller.add(descriptor, tag: Self.otherTags + tag) }
}

// MARK: - Phases

extension Driver {
    /// Turns until `isDone` says so.
    func turn(until isDone: () throws(BenchFailure) -> Bool) throws(BenchFailure) {
        while !(try isDone()) {
            guard !InterruptSignal.isAsked else { throw BenchFailure("interrupted") }
            publishers?.serve()
            first?.wait(milliseconds: 0) { streams.serve(Int($0)) }
            if isPublishing { try publishDue() }
            poller.wait(milliseconds: 10) { tag in
                switch tag {
                case Tag.publishers, Tag.first: break  // at the head of the next turn
                case Tag.alarm: silence()
                case Self.otherTags...: onOther?(tag - Self.otherTags)
                default: streams.serve(Int(tag))
                }
            }
            memory.take(meter)
        }
    }

    /// Opens streams and waits until the server has them all.
    func open(_ indices: Range<Int>) throws(BenchFailure) {
        for index in indices { ledger.join(index, channel: Int(streams.slots[index].channel)) }
        streams.open(indices)
        try finishOpening()
        // A server may answer before it has noted down the subscription.
        try rest(milliseconds: 300)
    }

    func finishOpening() throws(BenchFailure) {
        let deadline = uptimeNanoseconds() + 60_000_000_000
        try turn { () throws(BenchFailure) in
            if streams.isOpening, streams.isRefused || uptimeNanoseconds() > deadline {
                throw BenchFailure(
                    "only \(streams.openCount) of \(streams.count) streams opened; the last status was \(streams.lastStatus)"
                )
            }
            streams.connectMore()
            return !streams.isOpening
        }
    }

    /// Publishes for a while.
    func publish(seconds: Double) throws(BenchFailure) {
        startPublishing()
        let end = uptimeNanoseconds() + UInt64(seconds * 1e9)
        try turn { uptimeNanoseconds() >= end }
        stopPublishing()
    }

    func startPublishing() {
        isPublishing = true
        dueAt = uptimeNanoseconds()
    }

    func stopPublishing() { isPublishing = false }

    /// Waits for what is under way. What does not come is then lost.
    func drain() throws(BenchFailure) {
        var last = (ledger.outstanding, uptimeNanoseconds())
        try turn {
            let now = uptimeNanoseconds()
            if ledger.outstanding != last.0 { last = (ledger.outstanding, now) }
            return (ledger.outstanding <= 0 && (publishers?.underWay ?? 0) == 0)
                || now > last.1 + UInt64(plan.patienceSeconds) * 1_000_000_000
        }
    }

    func rest(milliseconds: Int) throws(BenchFailure) {
        let end = uptimeNanoseconds() + UInt64(milliseconds) * 1_000_000
        try turn { uptimeNanoseconds() >= end }
    }
}

// MARK: - Publishing

extension Driver {
    private func publishDue() throws(BenchFailure) {
        guard let publishers else { return }
        guard plan.rate > 0 else {
            while publishers.hasFree, ledger.outstanding <= window {
                try publishers.publish(channel: nextChannel(), due: uptimeNanoseconds())
            }
            return
        }
        let now = uptimeNanoseconds()
        while dueAt <= now, publishers.hasFree {
            try publishers.publish(channel: nextChannel(), due: dueAt)
            dueAt += 1_000_000_000 / UInt64(plan.rate)
        }
        if dueAt > now { wake(at: dueAt) }
    }

    private func nextChannel() -> Int {
        defer { channel = channel + 1 == plan.channels ? 0 : channel + 1 }
        return channel
    }

    /// To the nanosecond, which `epoll_wait` cannot.
    private func wake(at nanoseconds: UInt64) {
        var time = itimerspec()
        time.it_value = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &time, nil)
    }

    private func silence() {
        var count: UInt64 = 0
        read(alarm, &count, 8)
    }
}

/// The memory of the measured processes, looked at every few seconds.
struct MemorySamples {
    private(set) var first = 0
    private(set) var last = 0
    private(set) var peak = 0
    private var nextAt: UInt64 = 0
    private static let period: UInt64 = 2_000_000_000

    mutating func take(_ meter: ProcessMeter) {
        guard !meter.processes.isEmpty, uptimeNanoseconds() >= nextAt else { return }
        last = meter.memoryBytes
        if first == 0 { first = last }
        peak = max(peak, last)
        nextAt = uptimeNanoseconds() + Self.period
    }

    mutating func reset() { self = MemorySamples() }
}

extension Driver {
    /// Begins to look at memory anew.
    func resetMemory() { memory.reset() }
}

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
