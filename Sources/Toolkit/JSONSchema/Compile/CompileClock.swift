import Glibc

/// The CPU time a compile may still take. Its own thread's time, so that a busy machine refuses no schema.
struct CompileClock {
    private let deadline: Int
    private let milliseconds: Int

    init(milliseconds: Int) {
        self.milliseconds = milliseconds
        deadline = Self.now() + milliseconds * 1_000_000
    }

    func check() throws(SchemaError) {
        guard Self.now() <= deadline else {
            throw SchemaError(.limit, "compiling the schema takes more than \(milliseconds) ms")
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
