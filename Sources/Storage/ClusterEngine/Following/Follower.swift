import ChatModel
import Locking
import Logging
import StorageCore

/// Applies the commits of all nodes to the memory of this node, each once and in order.
///
/// Frames arrive from this node's writer and from the bus. The bus may lose, delay, repeat and reorder them. Each frame
/// names the commit before it, so a gap is seen at once. A gap that no frame closes within ``patience`` is read from the
/// store, and the head is read regularly in any case.
///
/// While the store cannot be read, the node does not learn of revocations: a frame has the keys of changed records, and
/// their content is in the store. Frames of other nodes therefore wait until the store was read within
/// ``confirmation``.
actor Follower {
    /// The time that a gap may wait for frames before the store is read.
    private static let patience: Duration = .milliseconds(10)
    /// The time between two attempts to close a gap while the store cannot be read.
    private static let failureWait: Duration = .milliseconds(500)
    /// The time after a read of the store for which frames of other nodes are applied, in nanoseconds (1 s). The store is
    /// read twice as often.
    private static let confirmation: UInt64 = 1_000_000_000
    /// The maximum size of the frames that wait, in bytes (`weight`). Frames beyond it are dropped: the read of the store
    /// replaces them.
    private static let heldBytes = 16 * 1024 * 1024
    /// The time after which a node that could not read the store forgets what it has in memory, in nanoseconds (50 min).
    /// Notices of deletions are kept for an hour.
    private static let longestAbsence: UInt64 = 3_000_000_000_000

    private let store: any ClusterStore
    private let memory: NodeMemory
    private let scheduler: any ClusterScheduler
    private let uptime: @Sendable () -> UInt64
    private let logger: Logger
    /// The uptime of the last successful read of the store.
    private var lastRead: UInt64
    /// The number of reads of the store because frames were missing.
    private(set) var gapReads: UInt64 = 0
    /// The head up to which all commits are applied.
    private(set) var have: Head
    /// The frames that wait for a gap to close or for a read of the store, by the number of the commit before them.
    private var held: [UInt64: Frame] = [:]
    /// The size of ``held``.
    private var heldWeight = 0
    private var isGapWatched = false
    /// The tasks that wait until a commit is applied.
    private var waiting: [(commit: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
    private var isClosed = false

    // The reads of the store. One runs at a time. A caller needs a read that began after its call.
    private var begun = 0
    private var ended = 0
    private var failure: StoreFailure?
    private var readers: [CheckedContinuation<Void, Never>] = []

    init(store: any ClusterStore, memory: NodeMemory, start: Head, settings: ClusterEngineSettings) {
        self.store = store
        self.memory = memory
        scheduler = settings.scheduler
        uptime = settings.uptime
        logger = settings.logger
        lastRead = settings.uptime()
        have = start
    }

    // MARK: Frames

    /// Applies a frame of another node if it is the next one, and the frames that waited for it. Holds it if others are
    /// missing, or while the store is not read. Drops it if it was applied before.
    func receive(_ frame: Frame) { receive(frame, isOwn: false) }

    private func receive(_ frame: Frame, isOwn: Bool) {
        guard frame.head.commit > have.commit, !isClosed else { return }
        guard frame.after <= have.commit, isOwn || isConfirmed else { return hold(frame) }
        apply(frame)
        applyHeld()
    }

    /// Applies the frame of a commit of this node. Returns when the frame and all commits before it are applied, or the
    /// store cannot be read.
    ///
    /// - Parameter expectsFrames: true if the missing commits will probably arrive from the bus.
    func receiveOwn(_ frame: Frame, expectsFrames: Bool) async {
        receive(frame, isOwn: true)
        guard have.commit < frame.head.commit, !isClosed else { return }
        guard expectsFrames else {
            try? await catchUp()  // the failure is logged; the commit itself is stored
            return
        }
        await withCheckedContinuation { waiting.append((frame.head.commit, $0)) }
    }

    private var isConfirmed: Bool { uptime() - lastRead <= Self.confirmation }

    private func hold(_ frame: Frame) {
        if heldWeight <= Self.heldBytes {
            heldWeight += frame.weight - (held.updateValue(frame, forKey: frame.after)?.weight ?? 0)
        }
        watchGap()
    }

    /// Applies the held frames that are next, and drops those that were applied before.
    private func applyHeld() {
        guard !held.isEmpty else { return }
        while isConfirmed, let next = held.removeValue(forKey: have.commit) { apply(next) }
        held = held.filter { $0.value.head.commit > have.commit }
        heldWeight = held.values.reduce(0) { $0 + $1.weight }
    }

    private func apply(_ frame: Frame) {
        memory.apply(frame, after: have)
        have = Head(
            commit: max(have.commit, frame.head.commit), timetoken: max(have.timetoken, frame.head.timetoken),
            revision: max(have.revision, frame.head.revision), time: frame.head.time)
        resumeWaiting()
    }

    private func resumeWaiting() {
        guard !waiting.isEmpty else { return }
        let done = waiting.filter { $0.commit <= have.commit || isClosed }
        guard !done.isEmpty else { return }
        waiting.removeAll { $0.commit <= have.commit || isClosed }
        for entry in done { entry.continuation.resume() }
    }

    private func watchGap(after wait: Duration = Follower.patience) {
        guard !isGapWatched, !isClosed else { return }
        isGapWatched = true
        scheduler.run { [self] in
            await scheduler.sleep(wait)
            await closeGap()
        }
    }

    private func closeGap() async {
        isGapWatched = false
        guard !held.isEmpty, !isClosed else { return }
        gapReads += 1
        do {
            try await catchUp()
        } catch {
            // The commits are stored, and their callers need not wait for this node to see them.
            let abandoned = waiting
            waiting = []
            for entry in abandoned { entry.continuation.resume() }
            if !held.isEmpty { watchGap(after: Self.failureWait) }
            return
        }
        if !held.isEmpty { watchGap() }
    }

    // MARK: Reads of the store

    /// The time since the last successful read of the store.
    var headAge: Duration { .nanoseconds(uptime() - lastRead) }

    /// Applies everything that was committed before the call.
    ///
    /// Calls that arrive while the store is being read share the next read. So the store answers at most one such read
    /// of a node at a time, however many callers there are.
    func catchUp() async throws(StoreFailure) {
        let needed = begun + 1
        while ended < needed {
            guard !isClosed else { throw .unavailable("the engine is closed") }
            if begun == ended {
                await read()
            } else {
                await withCheckedContinuation { readers.append($0) }
            }
        }
        if let failure { throw failure }
    }

    private func read() async {
        begun += 1
        do throws(StoreFailure) {
            let sent = memory.clock.localNow
            if uptime() - lastRead > Self.longestAbsence { try await forget() }
            let start = uptime()
            let head = try await store.follow(after: have) { [self] frame in await receivePart(frame) }
            memory.clock.follow(head.time, requestedAt: sent)
            // The head may be as old as the beginning of the read.
            lastRead = start
            receivePart(Frame(after: have.commit, head: head))
            if failure != nil { logger.notice("the log can be read again") }
            failure = nil
        } catch {
            // While the store is away, only its first failure is logged.
            if failure == nil { logger.warning("the log cannot be read", metadata: ["failure": "\(error)"]) }
            failure = error
        }
        ended = begun
        let resumed = readers
        readers = []
        for reader in resumed { reader.resume() }
        applyHeld()
    }

    /// Empties the memory after a long absence. Tries again if commits were applied meanwhile, because the retention that
    /// was read may then be older than the retention in memory.
    private func forget() async throws(StoreFailure) {
        while true {
            let before = have.commit
            let entries = try await store.retentions()
            if have.commit == before { return memory.forget(entries) }
        }
    }

    /// Applies a part of a read. Frames may have arrived since the read began, so the part may be old in whole or in
    /// part.
    private func receivePart(_ frame: Frame) {
        guard !isClosed, frame.covered.map({ have.commit < $0 }) ?? (frame.head != have) else { return }
        apply(frame)
    }

    /// Ends all waits. No frame is applied afterwards.
    func close() {
        isClosed = true
        resumeWaiting()
        let resumed = readers
        readers = []
        for reader in resumed { reader.resume() }
        memory.close()
    }
}
