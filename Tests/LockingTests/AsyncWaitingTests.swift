import Locking
import Testing

@Suite("A signal", .timeLimit(.minutes(1))) struct AsyncSignalTests {
    @Test("loses no change of many threads and tasks")
    func manySenders() async {
        let (senders, each) = (50, 400)
        let (count, signal) = (Lock(0), AsyncSignal())
        await withDiscardingTaskGroup { group in
            for sender in 0..<senders {
                if sender.isMultiple(of: 10) {
                    let isStarted = startThread(name: "sender") {
                        for _ in 0..<each {
                            count.withLock { $0 += 1 }
                            signal.send()
                        }
                    }
                    #expect(isStarted)
                } else {
                    group.addTask {
                        for _ in 0..<each {
                            count.withLock { $0 += 1 }
                            signal.send()
                            await Task.yield()
                        }
                    }
                }
            }
            group.addTask { while count.withLock({ $0 }) < senders * each { await signal.wait() } }
        }
        #expect(count.withLock { $0 } == senders * each)
    }

    @Test("sent several times before the wait ends one wait")
    func coalesced() async {
        let (signal, waits) = (AsyncSignal(), Lock(0))
        for _ in 0..<3 { signal.send() }
        await signal.wait()
        let second = Task {
            await signal.wait()
            waits.withLock { $0 += 1 }
        }
        // Nothing but this can end it.
        #expect(waits.withLock { $0 } == 0)
        signal.send()
        await second.value
        #expect(waits.withLock { $0 } == 1)
    }

    @Test("wakes a task that is cancelled, before its wait or during it")
    func cancelled() async {
        for _ in 0..<200 {
            let signal = AsyncSignal()
            let waiting = Task { while !Task.isCancelled { await signal.wait() } }
            await Task.yield()
            waiting.cancel()
            await waiting.value
        }
    }
}

@Suite("Waiters for a position", .timeLimit(.minutes(1))) struct PositionWaitersTests {
    private actor Log {
        private(set) var position = 0
        private let waiters = PositionWaiters<Int>()
        var waiting: Int { waiters.count }

        func reach(_ target: Int) async -> (isReached: Bool, position: Int) {
            guard position < target else { return (true, position) }
            let isReached = await waiters.wait(for: target)
            return (isReached, position)
        }

        func wait(for target: Int) async -> Bool { await waiters.wait(for: target) }

        func advance(to position: Int) {
            self.position = position
            waiters.resume(through: position)
        }

        func end() { waiters.endAll() }
    }

    @Test("are resumed at their position, a thousand at once, and none is forgotten")
    func many() async {
        let log = Log()
        await withDiscardingTaskGroup { group in
            for target in 0..<1000 {
                group.addTask {
                    let result = await log.reach(target)
                    #expect(result.isReached && result.position >= target)
                }
            }
            group.addTask { for position in 0..<1000 { await log.advance(to: position) } }
        }
        #expect(await log.waiting == 0)
    }

    @Test("do not wait for a position that was reached before they began")
    func late() async {
        let log = Log()
        await log.advance(to: 5)
        #expect(await log.wait(for: 5), "although the check came before the advance")
    }

    @Test("are resumed in vain when the position advances no more")
    func end() async {
        let log = Log()
        async let early = log.reach(1)
        async let late = log.reach(2)
        while await log.waiting < 2 { await Task.yield() }
        await log.advance(to: 1)
        #expect(await early.isReached)
        await log.end()
        #expect(await !late.isReached)
    }
}

@Suite("An asynchronous semaphore", .timeLimit(.minutes(1))) struct AsyncSemaphoreTests {
    private actor Room {
        let semaphore: AsyncSemaphore
        private(set) var most = 0
        private(set) var order: [Int] = []

        init(width: Int) { semaphore = AsyncSemaphore(width: width) }

        func visit(_ visitor: Int) async {
            await semaphore.enter()
            order.append(visitor)
            most = max(most, semaphore.inside)
            await Task.yield()
            semaphore.leave()
        }

        func enter() async { await semaphore.enter() }
        func leave() { semaphore.leave() }
        var state: (inside: Int, waiting: Int) { (semaphore.inside, semaphore.waitingCount) }
    }

    @Test("admits as many as its width, and every task in the end")
    func width() async {
        let room = Room(width: 3)
        await withDiscardingTaskGroup { group in
            for visitor in 0..<3000 { group.addTask { await room.visit(visitor) } }
        }
        #expect(await room.most == 3)
        #expect(await room.order.sorted() == Array(0..<3000))
        #expect(await room.state == (0, 0))
    }

    @Test("admits waiting tasks in the order of their arrival")
    func order() async {
        // One at a time: tasks that are admitted together may run in any order.
        let room = Room(width: 1)
        await room.enter()
        await withDiscardingTaskGroup { group in
            for visitor in 0..<50 {
                group.addTask { await room.visit(visitor) }
                while await room.state.waiting <= visitor { await Task.yield() }
            }
            await room.leave()
        }
        #expect(await room.order == Array(0..<50))
    }
}
