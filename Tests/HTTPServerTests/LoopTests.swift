import Locking
import Testing

@testable import HTTPServer

@Suite("The loop") struct LoopTests {
    /// An exchange that is answered while the server stops does this: a job on the loop lets waiting jobs run first.
    @Test("runs every job once and in order when a job runs others itself")
    func reentrance() async throws {
        let loop = try Loop(name: "test")
        let ran = Lock<[Int]>([])
        for number in 0..<100 {
            loop.post {
                ran.withLock { $0.append(number) }
                loop.runJobs(atMost: 16) { number % 3 == 0 }
            }
        }
        try loop.start()
        await withCheckedContinuation { done in loop.post { done.resume() } }
        #expect(ran.withLock { $0 } == Array(0..<100))
        loop.stop()
    }
}
