internal import CLinux
import Glibc
public import Locking
import Synchronization

/// An event loop: one thread that waits for sockets, timers and jobs, and runs their handlers.
///
/// A loop is a serial executor. An actor that returns the loop as its `unownedExecutor` runs on the loop, and code
/// called by the loop may use `assumeIsolated` on such an actor. Tasks that belong to no actor run on the loop through
/// ``LoopTasks``. Code on the loop must not block, because it would delay every stream and every request of the
/// process.
///
/// The function `turn` is one iteration of the loop. It waits for events, and then handles, in this order: socket
/// events, due timers, a bounded number of jobs, the HTTP daemons, jobs again, the held responses (``HeldResponses``),
/// and a bounded number of stream deliveries. Deliveries to few streams come earlier: before the daemons, and before
/// the held responses. The bounds prevent one kind of work from delaying the other kinds for long.
public final class Loop: ClosureExecutor, @unchecked Sendable {
    // `@unchecked Sendable` is safe: `inbox`, `asleep`, `owner` and `stopping` are locked or atomic, and everything
    // else is used only by the loop's thread, or by `init` and `deinit`.

    /// The maximum number of jobs that run before the loop checks its sockets again.
    private static let jobsPerTurn = 256
    private static let eventsPerTurn = 256
    /// The time after which an iteration runs no further batch of jobs. Without this bound, a job that yields by
    /// enqueuing itself again could prevent the iteration from ending.
    private static let swarmTime: Duration = .milliseconds(2)

    /// The thread's name, shown by debuggers and `top`.
    public let name: String

    let delivery = Delivery()
    private(set) var sources: SourceTable
    private(set) var timers = TimerHeap()
    /// The time when the current iteration began. It is exact enough for deadlines, and reading it needs no system
    /// call.
    private(set) var turnTime = MonotonicTime.now
    private var servers: [ServerCore] = []
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

    /// Creates the loop's epoll and eventfd descriptors. The thread starts with ``start()``.
    ///
    /// - Throws: ``ServerError/system(call:code:)`` when the process has no file descriptors left.
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

// MARK: - Life cycle

extension Loop {
    /// Starts the thread. Jobs posted before the start run first. May be called once.
    ///
    /// - Throws: ``ServerError/system(call:code:)`` when the thread cannot be created.
    public func start() throws(ServerError) {
        precondition(thread == nil, "A loop can be started only once")
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

    /// Ends the thread and waits until it has ended. When called on the loop itself, does not wait. Jobs that are
    /// already queued run before the thread ends. Jobs posted later run on the thread that posts them, so that no
    /// caller waits forever.
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
        repeat { runJobs(limit: .max) } while drainJobs()
        owner.store(0, ordering: .sequentiallyConsistent)
        inbox.withLock { $0.isClosed = true }
        // Runs jobs that were posted just before the inbox was closed.
        drainAfterEnd()
    }
}

// MARK: - One iteration

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
        delivery.runIfSmall()
        for server in servers { server.drive() }
        // Runs the jobs that requests have posted in `drive()`, so that the output of the jobs is sent in this
        // iteration.
        runWaitingJobs()
        delivery.runIfSmall()
        for server in servers { server.sendHeldResponses() }
        deliver()
        runAfterTurn()
    }

    /// Sends one slice of stream deliveries (``Delivery/slice``). Then sends further slices for at most the time that
    /// the iteration has taken so far. If each iteration sent only one slice, a loop under heavy load would handle
    /// hundreds of requests between two slices.
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
        while left > 0, let timer = timers.removeDue(at: now) {
            timer.fire()
            left -= 1
        }
    }

    /// Returns the time in milliseconds that `epoll_wait` may block. First sets the flag that this thread is about to
    /// sleep, then checks again whether there is work. If another thread adds work at the same time, this check finds
    /// the work, or the other thread sees the flag and wakes the loop.
    private func waitMilliseconds() -> Int32 {
        guard nextRunning == running.count, delivery.isIdle, afterTurn.isEmpty else { return 0 }
        guard !servers.contains(where: { $0.isEager }) else { return 0 }
        asleep.store(true, ordering: .sequentiallyConsistent)
        guard inbox.withLock({ $0.isEmpty }), !stopping.load(ordering: .sequentiallyConsistent) else { return 0 }
        return timers.millisecondsToNext()
    }

    /// Moves posted jobs to the loop's own list. Returns true when there are jobs to run.
    private func drainJobs() -> Bool {
        let needsJobs = nextRunning == running.count
        if needsJobs {
            running.removeAll(keepingCapacity: true)
            nextRunning = 0
        }
        let newTimers = inbox.withLock { inbox in
            if needsJobs { swap(&inbox.work, &running) }
            return inbox.removeTimers()
        }
        for timer in newTimers { timers.insert(timer) }
        return nextRunning < running.count
    }

    /// Runs the queued jobs and the jobs that arrive while they run. Jobs often arrive in batches, and the first job of
    /// a batch wakes the loop. Running the whole batch in one iteration sends the responses of the batch together.
    private func runWaitingJobs() {
        var left = Self.jobsPerTurn
        let end = MonotonicTime.now + Self.swarmTime
        repeat { left -= runJobs(limit: left) } while left > 0 && MonotonicTime.now < end && drainJobs()
    }

    /// Runs up to `limit` jobs of the current list. A job may call `runJobs(atMost:until:)`, which can replace the
    /// list, so the list and the index are read again for each job.
    ///
    /// - Returns: the number of jobs that were run.
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

    /// Runs queued jobs now, in order, until `isDone` returns true or `limit` jobs have run. Use it before waiting for
    /// one of these jobs, because suspending costs more than running the jobs.
    func runJobs(atMost limit: Int, until isDone: () -> Bool) {
        for _ in 0..<limit {
            guard !isDone(), nextRunning < running.count || drainJobs() else { return }
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
    /// True when the calling code runs on this loop.
    public var isCurrent: Bool {
        owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs `closure` on the loop, after the jobs posted before it. May be called from any thread.
    public func post(_ closure: @escaping @Sendable () -> Void) {
        add(.closure(closure))
    }

    /// Runs `job` on the loop no sooner than after `delay`. May be called from any thread.
    ///
    /// - Returns: a handle that can cancel the job. Releasing the handle does not cancel the job.
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

    /// Enqueues a job of an actor that runs on this loop. May be called from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    fileprivate func enqueue(_ job: UnownedJob, of executor: UnownedTaskExecutor) {
        add(.taskJob(job, executor))
    }

    /// Returns this loop as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Calls `body` isolated to an actor that runs on this loop. Does not suspend if the calling code already runs on
    /// the loop.
    ///
    /// - Throws: the error that `body` throws.
    @inlinable
    public nonisolated(nonsending) func run<Resident: Actor, Value: Sendable, Failure: Error>(
        on actor: Resident, _ body: @Sendable (isolated Resident) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        isCurrent ? try actor.runHere(body) : try await actor.run(body)
    }

    /// Calls `body` isolated to an actor that runs on this loop, without suspending. Stops the program unless the calling
    /// code runs on the loop.
    ///
    /// Like the actor's `assumeIsolated`, but compares only the thread. `assumeIsolated` takes many times as long, because
    /// it also asks the executor whether it is the main executor. Debug builds verify that the actor runs on this loop.
    @inlinable
    public func enter<Resident: Actor, Value: Sendable>(
        _ actor: Resident, _ body: (isolated Resident) -> Value
    ) -> Value {
        checkIsolated()
        assert(actor.assumeIsolated { _ in true })
        let call: IsolatedCall<Resident, Value> = callIsolated
        // Safe: an isolated parameter is passed like any other parameter.
        return unsafeBitCast(call, to: PlainCall<Resident, Value>.self)(actor, body)
    }

    /// Stops the program unless the calling code runs on this loop.
    public func checkIsolated() {
        precondition(isCurrent, "This function must be called on the thread of the loop '\(name)'")
    }

    /// Returns true when the calling code runs on this loop; never `nil`.
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
        // The write fails only when the eventfd's counter is full. The loop wakes up in that case anyway.
        write(alarm, &one, 8)
    }

    /// Runs the jobs that are posted after the loop's thread has ended, on the thread that posts them, so that code
    /// that waits for this executor can finish. Only one thread runs such jobs at a time.
    private func drainAfterEnd() {
        // A job may release the last reference to this loop while this function runs, because the Swift runtime that
        // calls it holds no reference.
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

        mutating func removeTimers() -> [LoopTimer] {
            guard !timers.isEmpty else { return [] }
            defer { timers.removeAll() }
            return timers
        }
    }
}

/// The executor that runs tasks without an actor on a loop: `Task(executorPreference: LoopTasks(loop))`.
///
/// ``Loop`` is the executor of actors. If it were also the executor of tasks, the task of a request would be enqueued
/// again each time it enters or leaves an actor. For a request that emits an event, the task would be enqueued ten
/// times. With this separate executor, the task is enqueued twice (measured).
public final class LoopTasks: TaskExecutor {
    private let loop: Loop

    /// Creates an executor that runs its tasks on `loop`.
    public init(_ loop: Loop) { self.loop = loop }

    /// Enqueues a job of a task on the loop. May be called from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(UnownedJob(job), of: asUnownedTaskExecutor())
    }
}

extension Actor {
    @usableFromInline
    func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Self) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(self)
    }

    @inlinable
    nonisolated func runHere<Value: Sendable, Failure: Error>(
        _ body: @Sendable (isolated Self) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // `assumeIsolated` has no typed errors.
        let result = assumeIsolated { actor -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try body(actor))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

// MARK: - Servers and sources

extension Loop {
    /// Runs `closure` at the end of this iteration, after the socket events, when no code iterates over the
    /// connections.
    func afterThisTurn(_ closure: @escaping () -> Void) {
        afterTurn.append(closure)
    }

    /// Calls `server.drive()` once in each later iteration.
    func add(_ server: ServerCore) {
        servers.append(server)
    }

    func remove(_ server: ServerCore) {
        servers.removeAll { $0 === server }
    }

    /// Watches a descriptor. Calls the source with the `events` that have occurred, until `unwatch` removes the source.
    func watch(_ descriptor: Int32, for events: UInt32, _ source: any LoopSource) throws(ServerError) -> SourceID {
        try sources.add(descriptor, events: events, source)
    }

    /// Adds a source that has no descriptor of its own to the source table. ``displace(_:)`` removes the source.
    func place(_ source: any LoopSource) -> SourceID {
        sources.place(source)
    }

    /// Removes a source from the source table without a change to epoll.
    func displace(_ id: SourceID) {
        sources.remove(id, descriptor: -1)
    }

    func unwatch(_ id: SourceID, descriptor: Int32) {
        sources.remove(id, descriptor: descriptor)
    }
}

@usableFromInline typealias IsolatedBody<Resident: Actor, Value> = (isolated Resident) -> Value
@usableFromInline typealias IsolatedCall<Resident: Actor, Value> =
    (isolated Resident, IsolatedBody<Resident, Value>) -> Value
@usableFromInline typealias PlainCall<Resident: Actor, Value> = (Resident, IsolatedBody<Resident, Value>) -> Value

/// Calls `body` isolated to the actor; see ``Loop/enter(_:_:)``.
@inlinable
func callIsolated<Resident: Actor, Value>(_ actor: isolated Resident, _ body: (isolated Resident) -> Value) -> Value {
    body(actor)
}
