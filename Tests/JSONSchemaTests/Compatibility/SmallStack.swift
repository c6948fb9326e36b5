import Glibc

/// Runs work on a thread with the smallest stack that the program gives its threads.
enum SmallStack {
    /// 512 KiB is what the product promises; the frames of a debug build are several times larger.
    private static var bytes: Int {
        #if DEBUG
            2048 * 1024
        #else
            512 * 1024
        #endif
    }

    private final class Job {
        let work: () -> Void
        init(_ work: @escaping () -> Void) { self.work = work }
    }

    /// Nil when no thread could be started.
    static func run<Answer>(_ work: @escaping () -> Answer) -> Answer? {
        var answer: Answer?
        let job = Job { answer = work() }
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, bytes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        var thread = pthread_t()
        let started = pthread_create(
            &thread, attributes,
            { context in
                context.map { Unmanaged<Job>.fromOpaque($0).takeUnretainedValue().work() }
                return nil
            }, Unmanaged.passUnretained(job).toOpaque())
        guard started == 0 else { return nil }
        withExtendedLifetime(job) { _ = pthread_join(thread, nil) }
        return answer
    }
}
