import Glibc
import HTTPServer
import Locking
import TestSupport
import Testing

@Suite("The loop") struct LoopTests {
    private func withLoop<Value: Sendable>(_ body: @Sendable (Loop) async throws -> Value) async throws -> Value {
        let loop = try Loop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await body(loop)
    }

    @Test("runs posted work in order, on its own thread") func order() async throws {
        try await withLoop { loop in
            let seen = Observed<[Int]>([])
            #expect(!loop.isCurrent)
            for number in 0..<5000 {
                loop.post {
                    #expect(loop.isCurrent)
                    seen.update { $0.append(number) }
                }
            }
            seen.waitBlocking { $0.count == 5000 }
            #expect(seen.value == Array(0..<5000))
        }
    }

    @Test("is left by work for the thread pool, even when it never suspends, and come back to") func threadPool()
        async throws
    {
        try await withLoop { loop in
            let places = await Task(executorPreference: LoopTasks(loop)) {
                let before = loop.isCurrent
                let during = await onThreadPool { loop.isCurrent }
                return [before, during, loop.isCurrent]
            }.value
            #expect(places == [true, false, true])
        }
    }

    @Test("is left by long work, which keeps no other task from the thread pool") func longWork() async throws {
        try await withLoop { loop in
            let isOver = Observed(false)
            let entered = Observed(0)
            await withTaskGroup(of: Bool.self) { group in
                let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
                for _ in 0..<processors {
                    group.addTask(executorPreference: LoopTasks(loop)) {
                        await asLongWork {
                            entered.update { $0 += 1 }
                            isOver.waitBlocking { $0 }
                            return loop.isCurrent
                        }
                    }
                }
                await entered.wait { $0 == processors }
                #expect(
                    await Task(executorPreference: LoopTasks(loop)) { await onThreadPool { !loop.isCurrent } }.value)
                isOver.update { $0 = true }
                for await isOnLoop in group { #expect(!isOnLoop) }
            }
        }
    }

    @Test("fires timers in the order of their time, and not those called off") func timers() async throws {
        try await withLoop { loop in
            let fired = Observed<[Int]>([])
            let posted = Observed(false)
            loop.post {
                let timers = [30, 10, 20, 15, 5].map { number in
                    loop.schedule(after: .milliseconds(number)) { fired.update { $0.append(number) } }
                }
                timers[3].cancel()
                posted.update { $0 = true }
            }
            let late = loop.schedule(after: .seconds(3600)) { fired.update { $0.append(-1) } }
            fired.waitBlocking { $0.count == 4 }
            #expect(fired.value == [5, 10, 20, 30])
            late.cancel()
        }
    }

    /// Works for a millisecond and reschedules itself.
    private static func goOn(_ loop: Loop, _ count: Observed<Int>) {
        let end = ContinuousClock.now + .milliseconds(1)
        while ContinuousClock.now < end {}
        count.update { $0 += 1 }
        if count.value < 200 { loop.post { goOn(loop, count) } }
    }

    @Test("runs other work between jobs that follow one another") func fairness() async throws {
        try await withLoop { loop in
            let (count, seen) = (Observed(0), Observed(-1))
            loop.post {
                loop.schedule(after: .milliseconds(5)) { seen.update { $0 = count.value } }
                Self.goOn(loop, count)
            }
            seen.waitBlocking { $0 >= 0 }
            #expect(seen.value < 100)
        }
    }

    @Test("survives many timers that are called off") func manyTimers() async throws {
        try await withLoop { loop in
            let fired = Observed(0)
            loop.post {
                for number in 0..<20_000 {
                    let timer = loop.schedule(after: .milliseconds(number % 7)) { fired.update { $0 += 1 } }
                    if number % 10 != 0 { timer.cancel() }
                }
            }
            fired.waitBlocking { $0 == 2000 }
        }
    }

    @Test("is an executor whose actors may be entered from its callbacks") func actors() async throws {
        try await withLoop { loop in
            let counter = LoopCounter(loop: loop)
            #expect(await counter.next() == 1)
            let number = await withCheckedContinuation { continuation in
                loop.post { continuation.resume(returning: counter.assumeIsolated { $0.next() }) }
            }
            #expect(number == 2)
            let isOnLoop = await Task(executorPreference: LoopTasks(loop)) {
                try? await Task.sleep(for: .microseconds(1))  // Nothing cancels it.
                return loop.isCurrent
            }.value
            #expect(isOnLoop)
        }
    }

    @Test("lets a task of no actor go from function to function without another turn") func tasks() async throws {
        try await withLoop { loop in
            let othersCame = await Task(executorPreference: LoopTasks(loop)) {
                try? await Task.sleep(for: .microseconds(1))  // Nothing cancels it.
                let others = Observed(false)
                loop.post { others.update { $0 = true } }
                for _ in 0..<10 { #expect(await Self.isStill(on: loop)) }
                return others.value
            }.value
            #expect(!othersCame)
        }
    }

    private static func isStill(on loop: Loop) async -> Bool { loop.isCurrent }

    @Test("completes posted work before it ends, and leaves no task suspended") func end() async throws {
        let loop = try Loop(name: "test")
        let seen = Observed(0)
        for _ in 0..<1000 { loop.post { seen.update { $0 += 1 } } }
        try loop.start()
        loop.stop()
        #expect(seen.value == 1000)
        loop.post { seen.update { $0 += 1 } }
        #expect(seen.value == 1001)
        let counter = LoopCounter(loop: loop)
        for _ in 0..<100 { _ = await counter.next() }
        #expect(await counter.next() == 101)
        loop.stop()
    }

    @Test("wakes for work from many threads at once") func manyThreads() async throws {
        try await withLoop { loop in
            let seen = Observed(0)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<2000 { loop.post { seen.update { $0 += 1 } } }
                    }
                }
            }
            seen.waitBlocking { $0 == 16_000 }
        }
    }
}
