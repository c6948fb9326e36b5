import CLinux
import Glibc
import Locking

/// The event loop of a measurement. On one thread, it reads responses, publishes the events that are due and reads the
/// events that have arrived.
final class Driver {
    let plan: BenchPlan
    let target: Target
    let ledger: Ledger
    let streams: Streams
    let publishers: Publishers?
    let meter: ProcessMeter
    /// A text in the names of this run's channels, which distinguishes them from the channels of other runs.
    let run: String
    /// Called when a descriptor that a scenario has added is ready, with the descriptor's tag; nil when no scenario
    /// adds descriptors.
    var onOther: ((UInt64) -> Void)?
    private(set) var memory = MemorySamples()
    /// The channels of the next events.
    var cycle: ChannelCycle

    private let poller: Poller
    private let alarm: Int32
    /// True while events are published.
    private var isPublishing = false
    /// The time of the next event at a fixed rate, in nanoseconds of the monotonic clock.
    private var dueAt: UInt64 = 0
    /// The number of events that may still be published.
    private var remaining = Int.max
    /// The number of outstanding deliveries above which publishers wait.
    private let window: Int

    /// The poller of the streams that are served before all other streams; nil when there are no such streams.
    private var first: Poller?

    /// The maximum number of sockets that are read in one iteration of the loop. It limits the delay of reading a
    /// publisher's response.
    private static let readsPerTurn = 64
    /// The tags of descriptors that are not streams.
    private enum Tag {
        static let publishers = UInt64.max
        static let alarm = UInt64.max - 1
        static let first = UInt64.max - 2
    }
    /// The lowest tag of the descriptors for ``onOther``.
    static let otherTags: UInt64 = 1 << 32

    /// Prepares a measurement: checks the plan, raises the descriptor limit and creates the streams and publishers.
    ///
    /// - Parameters:
    ///   - run: the text in the names of channels; nil for a new text, with which no channel exists yet.
    ///   - others: the number of descriptors that belong to neither streams nor publishers.
    init(
        _ plan: BenchPlan, run: String? = nil, streams count: Int? = nil, resumable: Range<Int> = 0..<0,
        hasPublishers: Bool = true, others: Int = 0
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
        self.run = run ?? String(MonotonicTime.now.nanoseconds, radix: 36)
        cycle = ChannelCycle(count: plan.channels)
        poller = try Poller(capacity: Self.readsPerTurn)
        ledger = Ledger(readers: count, channels: plan.channels, publishers: plan.publishers)
        streams = try Streams(
            count, plan: plan, target: target, run: self.run, poller: poller, ledger: ledger,
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
        publishers = try Publishers(plan: plan, target: target, run: self.run, poller: answers, ledger: ledger)
    }

    deinit { close(alarm) }

    /// Serves the given open streams before all other streams. Otherwise the measured latency would include this
    /// program's work on thousands of other streams.
    func serveFirst(_ indices: Range<Int>) throws(BenchFailure) {
        let first = try Poller(capacity: Self.readsPerTurn)
        poller.add(first.descriptor, tag: Tag.first, events: EPOLLIN.rawValue)
        streams.move(indices, to: first)
        self.first = first
    }

    /// Adds a descriptor to the poller. ``onOther`` is called with `tag` whenever the descriptor is ready.
    func watch(_ descriptor: Int32, tag: UInt64) { poller.add(descriptor, tag: Self.otherTags + tag) }
}

// MARK: - Phases

extension Driver {
    /// Runs iterations of the loop until `isDone` returns true.
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
            memory.record(meter)
        }
    }

    /// Opens streams and waits until the server has accepted all of them.
    func open(_ indices: Range<Int>) throws(BenchFailure) {
        for index in indices { ledger.join(index, channel: Int(streams.slots[index].channel)) }
        streams.open(indices)
        try finishOpening()
        // The pause lets the server register the subscriptions, which may happen after its response.
        try rest(milliseconds: 300)
    }

    func finishOpening() throws(BenchFailure) {
        let deadline = MonotonicTime.now.nanoseconds + 60_000_000_000
        try turn { () throws(BenchFailure) in
            if streams.isOpening, streams.isRefused || MonotonicTime.now.nanoseconds > deadline {
                throw BenchFailure(
                    "only \(streams.openCount) of \(streams.count) streams opened; the last status was \(streams.lastStatus)"
                )
            }
            streams.connectMore()
            return !streams.isOpening
        }
    }

    /// Publishes events for this number of seconds.
    func publish(seconds: Double) throws(BenchFailure) {
        startPublishing()
        let end = MonotonicTime.now.nanoseconds + UInt64(seconds * 1e9)
        try turn { MonotonicTime.now.nanoseconds >= end }
        stopPublishing()
    }

    /// Publishes a number of events, and waits for the responses and deliveries.
    func publish(count: Int) throws(BenchFailure) {
        remaining = count
        startPublishing()
        try turn { remaining == 0 }
        stopPublishing()
        remaining = .max
        try drain()
    }

    func startPublishing() {
        isPublishing = true
        dueAt = MonotonicTime.now.nanoseconds
    }

    func stopPublishing() { isPublishing = false }

    /// Waits for the events that are not delivered yet. Events that do not arrive count as lost.
    func drain() throws(BenchFailure) {
        var last = (ledger.outstanding, MonotonicTime.now.nanoseconds)
        try turn {
            let now = MonotonicTime.now.nanoseconds
            if ledger.outstanding != last.0 { last = (ledger.outstanding, now) }
            return (ledger.outstanding <= 0 && (publishers?.underWay ?? 0) == 0)
                || now > last.1 + UInt64(plan.timeoutSeconds) * 1_000_000_000
        }
    }

    func rest(milliseconds: Int) throws(BenchFailure) {
        let end = MonotonicTime.now.nanoseconds + UInt64(milliseconds) * 1_000_000
        try turn { MonotonicTime.now.nanoseconds >= end }
    }
}

// MARK: - Publishing

extension Driver {
    private func publishDue() throws(BenchFailure) {
        guard let publishers else { return }
        guard plan.rate > 0 else {
            while publishers.hasFree, ledger.outstanding <= window, remaining > 0 {
                try publishers.publish(channel: cycle.next(), due: MonotonicTime.now.nanoseconds)
                remaining -= 1
            }
            return
        }
        let now = MonotonicTime.now.nanoseconds
        while dueAt <= now, publishers.hasFree {
            try publishers.publish(channel: cycle.next(), due: dueAt)
            dueAt += 1_000_000_000 / UInt64(plan.rate)
        }
        if dueAt > now { wake(at: dueAt) }
    }

    /// Sets the timer that wakes the loop at a time of the monotonic clock. `epoll_wait` alone would have only
    /// millisecond precision.
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

/// The memory of the measured processes, sampled every few seconds.
struct MemorySamples {
    private(set) var first = 0
    private(set) var last = 0
    private(set) var peak = 0
    private var nextAt: UInt64 = 0
    private static let period: UInt64 = 2_000_000_000

    mutating func record(_ meter: ProcessMeter) {
        guard !meter.processes.isEmpty, MonotonicTime.now.nanoseconds >= nextAt else { return }
        last = meter.memoryBytes
        if first == 0 { first = last }
        peak = max(peak, last)
        nextAt = MonotonicTime.now.nanoseconds + Self.period
    }

    mutating func reset() { self = MemorySamples() }
}

extension Driver {
    /// Discards the memory samples.
    func resetMemory() { memory.reset() }
}

/// The user's request to end the measurement (SIGINT or SIGTERM). The run then removes the objects that it has created
/// on the server.
enum InterruptSignal {
    // This variable is safe without a lock: a signal handler sets it once, and all other code only reads it. Reading
    // the new value one iteration late does no harm.
    private nonisolated(unsafe) static var isInterrupted: sig_atomic_t = 0

    static var isAsked: Bool { isInterrupted != 0 }

    /// Installs the handlers. The first signal requests the end; the second signal ends the process by its default
    /// action.
    static func listen() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                InterruptSignal.isInterrupted = 1
                signal(number, SIG_DFL)
            }
        }
    }
}
