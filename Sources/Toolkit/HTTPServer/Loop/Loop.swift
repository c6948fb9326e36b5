internal import CLinux
import Glibc
internal import Locking
import Synchronization

/// One thread that waits for sockets, timers and jobs, and runs everything that belongs to it.
///
/// It is an executor: an actor that names it as its `unownedExecutor` runs here, and code called by the loop may use
/// `assumeIsolated` on such an actor. Tasks of no actor run here through ``LoopTasks``. Nothing on the loop may block:
/// every stream and every request of the process waits for it.
///
/// One turn is: events of sockets, timers that are due, a bounded number of jobs, the HTTP daemons, jobs again, a bounded
/// slice of stream deliveries. So none of them can starve the others.
public final class Loop: SerialExecutor, @unchecked Sendable {
    // Safe to share: `inbox`, `asleep`, `owner` and `stopping` are locked or atomic; everything else is touched only by
    // the loop's thread, or by `init` and `deinit`.

    /// How many jobs run between two looks at the sockets.
    private static let jobsPerTurn = 256
    private static let eventsPerTurn = 256
    /// No further swarm of jobs is taken later than this: one that enqueues itself again, to let others have their turn, would
    /// have it straight away.
    private static let swarmTime: Duration = .milliseconds(2)

    /// Names the thread, for debuggers and `top`.
    public let name: String

    let delivery = Delivery()
    private(set) var sources: SourceTable
    private(set) var timers = TimerHeap()
    /// When this turn began: good enough for deadlines, and free.
    private(set) var turnTime = MonotonicTime.now
    private var drivers: [any LoopDriver] = []
    private var afterTurn: [() -> Void] = []

    private let epoll: Int32
    private let alarm: Int32
    private let inbox = Lock(Inbox())
    private let asleep = Atomic(false)
    private let owner = Atomic<UInt>(0)
    private let stopping = Atomic(false)
    private var running: [Inbox.Work] = []
    private var nextRunning = 0
    private var thread: pthread_t?

    /// Throws when the process has no file descriptors left.
    public init(name: String) throws(ServerError) {
        self.name = name
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw ServerError.last("epoll_create1") }
        alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard alarm >= 0 else {
            let error = ServerError.last("eventfd")
            Glibc.close(epoll)
            throw error
        }
        sources = SourceTable(epoll: epoll)
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: SourceTable.alarm))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, alarm, &event) == 0 else {
            let error = ServerError.last("epoll_ctl")
            Glibc.close(alarm)
            Glibc.close(epoll)
            throw error
        }
    }

    deinit {
        Glibc.close(alarm)
        Glibc.close(epoll)
    }
}

// MARK: - Life

extension Loop {
    /// Starts the thread. Jobs posted before run first.
    public func start() throws(ServerError) {
        precondition(thread == nil, "A loop is started once")
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                let loop = Unmanaged<Loop>.fromOpaque(context!).takeRetainedValue()
                loop.run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw .system(call: "pthread_create", code: code)
        }
        self.thread = thread
    }

    /// Ends the thread and waits for it, unless called on the loop, where it only asks. Jobs that are waiting run
    /// before the end; those that come later run on the thread that brings them, so that nobody is left waiting.
    public func stop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        ring()
        guard let thread, !isCurrent else { return }
        pthread_join(thread, nil)
        self.thread = nil
    }

    private func run() {
        _ = shim_name_thread(name)
        owner.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsPerTurn) { events in
            while !stopping.load(ordering: .relaxed) {
                turn(events)
            }
        }
        close()
    }

    private func close() {
        repeat { runJobs(limit: .max) } while takeJobs()
        owner.store(0, ordering: .sequentiallyConsistent)
        inbox.withLock { $0.isClosed = true }
        // What slipped in before the line above.
        drainAfterEnd()
    }
}

// MARK: - One turn

extension Loop {
    private func turn(_ events: UnsafeMutableBufferPointer<epoll_event>) {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), waitMilliseconds())
        asleep.store(false, ordering: .sequentiallyConsistent)
        turnTime = .now
        for index in 0..<max(0, Int(count)) {
            dispatch(events[index])
        }
        fireTimers()
        runWaitingJobs()
        for driver in drivers { driver.drive() }
        // What those requests have given rise to goes out with this turn.
        runWaitingJobs()
        deliver()
        runAfterTurn()
    }

    /// A slice, and when the rest of the turn took longer, for as long as that: a storm of requests would otherwise leave
    /// streams a slice for every few hundred of them.
    private func deliver() {
        delivery.run()
        guard !delivery.isIdle else { return }
        let now = MonotonicTime.now
        let end = MonotonicTime(nanoseconds: 2 * now.nanoseconds - turnTime.nanoseconds)
        while !delivery.isIdle, MonotonicTime.now < end { delivery.run() }
    }

    private func dispatch(_ event: epoll_event) {
        if event.data.u64 == SourceTable.alarm {
            var count: UInt64 = 0
            read(alarm, &count, 8)
        } else {
            sources.source(of: event.data.u64)?.ready(event.events)
        }
    }

    private func fireTimers() {
        guard timers.count > 0 else { return }
        let now = MonotonicTime.now
        var left = Self.jobsPerTurn
        while left > 0, let timer = timers.takeDue(at: now) {
            timer.fire()
            left -= 1
        }
    }

    /// Says that this thread is about to sleep and looks for work once more after it: whoever adds work in between
    /// either is seen here or sees the flag and rings.
    private func waitMilliseconds() -> Int32 {
        guard nextRunning == running.count, delivery.isIdle, afterTurn.isEmpty else { return 0 }
        guard !drivers.contains(where: { $0.isEager }) else { return 0 }
        asleep.store(true, ordering: .sequentiallyConsistent)
        guard inbox.withLock({ $0.isEmpty }), !stopping.load(ordering: .sequentiallyConsistent) else { return 0 }
        return timers.millisecondsToNext()
    }

    /// Moves what was posted to the loop's own list. True when there is something to run.
    private func takeJobs() -> Bool {
        if nextRunning == running.count {
            running.removeAll(keepingCapacity: true)
            nextRunning = 0
            inbox.withLock { swap(&$0.work, &running) }
        }
        for timer in inbox.withLock({ $0.takeTimers() }) { timers.insert(timer) }
        return nextRunning < running.count
    }

    /// Jobs often come in swarms, the first of which has woken us: whoever is answered together is sent to together.
    private func runWaitingJobs() {
        var left = Self.jobsPerTurn
        let end = MonotonicTime.now + Self.swarmTime
        repeat { left -= runJobs(limit: left) } while left > 0 && MonotonicTime.now < end && takeJobs()
    }

    /// A job may come back here through `runJobs(atMost:until:)` and leave another list behind, so both ends are looked
    /// at anew each time.
    ///
    /// - Returns: how many have run.
    @discardableResult
    private func runJobs(limit: Int) -> Int {
        var left = limit
        while left > 0, nextRunning < running.count {
            let work = running[nextRunning]
            nextRunning += 1
            left -= 1
            perform(work)
        }
        return limit - left
    }

    /// Runs waiting jobs now, in their order, until `isDone` or `limit` of them have run. For a caller who is about to
    /// wait for one of them: the wait would cost more than the jobs.
    func runJobs(atMost limit: Int, until isDone: () -> Bool) {
        for _ in 0..<limit {
            guard !isDone(), nextRunning < running.count || takeJobs() else { return }
            runJobs(limit: 1)
        }
    }

    private func perform(_ work: Inbox.Work) {
        switch work {
        case .job(let job):
            job.runSynchronously(on: asUnownedSerialExecutor())
        case .taskJob(let job, let executor):
            job.runSynchronously(on: executor)
        case .closure(let closure):
            closure()
        }
    }

    private func runAfterTurn() {
        guard !afterTurn.isEmpty else { return }
        var due: [() -> Void] = []
        swap(&due, &afterTurn)
        for closure in due { closure() }
    }
}

// MARK: - Jobs

extension Loop {
    /// Whether the calling code runs on this loop.
    public var isCurrent: Bool {
        owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs `job` on the loop, after those posted before, from any thread.
    public func post(_ job: @escaping @Sendable () -> Void) {
        add(.closure(job))
    }

    /// Runs `job` on the loop no sooner than after `delay`, from any thread.
    ///
    /// - Returns: a handle to call it off; the timer fires also when the handle is let go.
    @discardableResult
    public func schedule(after delay: Duration, _ job: @escaping @Sendable () -> Void) -> LoopTimer {
        schedule(at: MonotonicTime.now + delay, job)
    }

    @discardableResult
    func schedule(at deadline: MonotonicTime, _ job: @escaping @Sendable () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: deadline, job: job)
        if isCurrent {
            timers.insert(timer)
        } else {
            inbox.withLock { $0.timers.append(timer) }
            wakeIfAsleep()
        }
        return timer
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    fileprivate func enqueue(_ job: UnownedJob, of executor: UnownedTaskExecutor) {
        add(.taskJob(job, executor))
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    public func checkIsolated() {
        precondition(isCurrent, "This belongs to loop '\(name)' and was called elsewhere")
    }

    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    private func add(_ work: Inbox.Work) {
        let isClosed = inbox.withLock { inbox in
            inbox.work.append(work)
            return inbox.isClosed
        }
        if isClosed {
            drainAfterEnd()
        } else {
            wakeIfAsleep()
        }
    }

    private func wakeIfAsleep() {
        if asleep.exchange(false, ordering: .sequentiallyConsistent) { ring() }
    }

    private func ring() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the loop is being woken already.
        write(alarm, &one, 8)
    }

    /// After the thread's end whoever brings a job runs it, one thread at a time, so that what still waits for this
    /// executor comes to its end.
    private func drainAfterEnd() {
        // The job may hold the last reference to this loop, and the runtime that called holds none.
        let guardian = Unmanaged.passRetained(self)  // released in the next line's defer
        defer { guardian.release() }
        let me = UInt(pthread_self())
        while true {
            guard owner.compareExchange(expected: 0, desired: me, ordering: .sequentiallyConsistent).exchanged else {
                return
            }
            while let work = inbox.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) {
                perform(work)
            }
            owner.store(0, ordering: .sequentiallyConsistent)
            if inbox.withLock({ $0.work.isEmpty }) { return }
        }
    }

    private struct Inbox {
        enum Work {
            case job(UnownedJob)
            case taskJob(UnownedJob, UnownedTaskExecutor)
            case closure(@Sendable () -> Void)
        }

        var work: [Work] = []
        var timers: [LoopTimer] = []
        var isClosed = false

        var isEmpty: Bool { work.isEmpty && timers.isEmpty }

        mutating func takeTimers() -> [LoopTimer] {
            guard !timers.isEmpty else { return [] }
            defer { timers.removeAll() }
            return timers
        }
    }
}

/// A loop as the place of tasks that belong to no actor: `Task(executorPreference: LoopTasks(loop))`.
///
/// Not the loop itself, although it would do: a job that runs as an actor's cannot go on as nobody's without being
/// enqueued again, and a request's task changes between functions of no actor all the time. With one executor for both
/// an emit was enqueued ten times instead of twice (counted).
public final class LoopTasks: TaskExecutor {
    private let loop: Loop

    public init(_ loop: Loop) { self.loop = loop }

    public func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(UnownedJob(job), of: asUnownedTaskExecutor())
    }
}

// MARK: - Parts

/// Something the loop drives once a turn: an HTTP daemon.
protocol LoopDriver: AnyObject {
    /// Whether it wants another turn without waiting.
    var isEager: Bool { get }
    func drive()
}

extension Loop {
    /// Runs once this turn's events are dealt with, when no loop over connections is under way any more.
    func afterThisTurn(_ closure: @escaping () -> Void) {
        afterTurn.append(closure)
    }

    func add(_ driver: any LoopDriver) {
        drivers.append(driver)
    }

    func remove(_ driver: any LoopDriver) {
        drivers.removeAll { $0 === driver }
    }

    /// Watches a descriptor; the source is told which of `events` happened, until it is removed.
    func watch(_ descriptor: Int32, for events: UInt32, _ source: any LoopSource) throws(ServerError) -> SourceID {
        try sources.add(descriptor, events: events, source)
    }

    /// A place in the table for a source without a descriptor of its own.
    func place(_ source: any LoopSource) -> SourceID {
        sources.place(source)
    }

    func displace(_ id: SourceID) {
        sources.remove(id, descriptor: -1)
    }

    func unwatch(_ id: SourceID, descriptor: Int32) {
        sources.remove(id, descriptor: descriptor)
    }
}

/// What the logs of several broadcasts may take of memory together, beyond the little that each begins with.
///
/// Past it no log grows for those who lag: they are overtaken, closed as too slow, and come back with their last event id.
///
/// Belongs to its loop, like the broadcasts: every member is for code that runs on it.
public final class LogBudget: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    private let loop: Loop
    private var bytes: Int
    private var used = 0

    /// - Parameter bytes: what all logs may take together.
    public init(loop: Loop, bytes: Int) {
        self.loop = loop
        self.bytes = bytes
    }

    /// What all logs take now, in bytes; more than the limit only by what they must have to send at all.
    public var usedBytes: Int {
        loop.checkIsolated()
        return used
    }

    /// Changes what they may take. A log that has grown keeps what it has until it is unused or nobody is behind.
    public func setLimit(_ bytes: Int) {
        loop.checkIsolated()
        self.bytes = bytes
    }

    /// Whether a log had better give back what it does not need at the moment.
    var isScarce: Bool { used > bytes / 4 * 3 }

    func allows(_ more: UInt64) -> Bool { UInt64(used) &+ more <= UInt64(max(0, bytes)) }

    func change(from old: UInt64, to new: UInt64) { used += Int(new) - Int(old) }
}
