import ChatCore
import ChatModel
import Glibc
import SQLiteEngine

/// `Matching CASE FEEDS` prints one line.
@main struct Matching {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let which = Case(rawValue: words[1]), let feeds = Int(words[2]), feeds > 0 else {
            print("usage: Matching \(Case.allCases.map(\.rawValue).joined(separator: "|")) FEEDS")
            exit(2)
        }
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:"))
        let service = ChatService(engine: engine, executor: InPlace())
        let figures = try await Figures(service.hub, which, feeds)
        print(figures.line)
        await engine.close()
    }
}

/// What comes of one run. Times are CPU nanoseconds.
struct Figures {
    private let which: Case
    private let feeds: Int
    private let bytes: Int
    private let attach: Double
    private let event: Double
    private let detach: Double

    /// On the hub's executor, so that no hop between threads is measured.
    init(_ hub: isolated Hub, _ which: Case, _ feeds: Int) async throws {
        self.which = which
        self.feeds = feeds
        let sinks = (0..<feeds).map { _ in Sink() }
        let before = Process.memory
        let selections = try (0..<feeds).map(which.selection)
        attach = Process.time(feeds) { for number in 0..<feeds { hub.attach(sinks[number], to: selections[number]) } }
        bytes = (Process.memory - before) / feeds
        event = Self.median(hub, which, sinks)
        detach = Process.time(feeds) { for number in 0..<feeds { hub.detach(sinks[number], from: selections[number]) } }
        guard hub.feedCount == 0 else { Process.fail("feeds are left") }
    }

    /// Of five samples of 200 ms or more.
    private static func median(_ hub: isolated Hub, _ which: Case, _ sinks: [Sink]) -> Double {
        let numbers = which.targets(sinks.count)
        let events = numbers.map(which.event)
        func once() {
            for (number, event) in zip(numbers, events) {
                let reached = hub.reach(of: event)
                guard reached.count == 1, reached[0] === sinks[number] else { Process.fail("an event went astray") }
            }
        }
        var rounds = 1
        while Process.time(1, { for _ in 0..<rounds { once() } }) < 2e8 { rounds *= 2 }
        let samples = (0..<5).map { _ in Process.time(rounds * events.count) { for _ in 0..<rounds { once() } } }
        return samples.sorted()[2]
    }

    var line: String {
        func whole(_ number: Double) -> String { String(Int(number.rounded())) }
        return
            "\(which.rawValue): \(feeds) feeds, \(feeds * which.channels) subscriptions, \(whole(event)) ns an event,"
            + " \(whole(attach)) ns to attach, \(whole(detach)) to detach, \(bytes) bytes a feed"
    }
}

/// A subscriber that takes nothing.
final class Sink: FeedSink {
    func take(_ events: [Event]) {}
}

/// Runs what it is given at once: there is but one task.
final class InPlace: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedSerialExecutor())
    }
}

enum Process {
    /// CPU nanoseconds of each of `count` parts of the work.
    static func time(_ count: Int, _ work: () -> Void) -> Double {
        let start = now
        work()
        return Double(now - start) / Double(count)
    }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Resident bytes.
    static var memory: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }

    static func fail(_ text: String) -> Never {
        print("error: \(text)")
        exit(1)
    }
}
