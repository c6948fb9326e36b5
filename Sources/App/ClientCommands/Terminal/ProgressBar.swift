import Locking

/// Shows the progress of a long run in the last line of a terminal. Prints nothing if the output is not a terminal.
package struct ProgressBar {
    private let sink: Sink
    private var drawnAt: UInt64?
    private let startedAt: UInt64
    private let now: @Sendable () -> UInt64

    package init(on sink: Sink, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now.nanoseconds }) {
        self.sink = sink
        self.now = now
        startedAt = now()
    }

    package var elapsed: Duration { .nanoseconds(Int64(now() - startedAt)) }

    /// Shows the progress, at most ten times a second, so that drawing does not slow down the run.
    package mutating func show(_ progress: some ProgressLine) {
        guard sink.isTerminal else { return }
        let time = now()
        if let drawnAt, time - drawnAt < 100_000_000 { return }
        drawnAt = time
        sink.text("\r" + progress.line(elapsed: elapsed, width: sink.width() - 1) + "\u{1B}[K")
    }

    /// Prints a line above the bar.
    package mutating func line(_ text: String) {
        clear()
        sink.line(text)
    }

    /// Removes the bar. The next call of `show` draws the bar immediately.
    package mutating func clear() {
        guard drawnAt != nil else { return }
        drawnAt = nil
        sink.text("\r\u{1B}[K")
    }
}

/// A progress that can be shown in one line.
package protocol ProgressLine {
    /// Returns a line of at most `width` columns: a bar when the total is known, otherwise counts.
    func line(elapsed: Duration, width: Int) -> String
}

extension ProgressLine {
    package func bar(_ share: Double, _ text: String, width: Int) -> String {
        let percent = "\(Int(share * 100))%"
        let room = min(40, width - text.count - percent.count - 4)
        guard room >= 5 else { return String("\(percent) \(text)".prefix(width)) }
        let filled = Int(share * Double(room))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled)
        return "[\(bar)] \(percent) \(text)"
    }
}

/// The progress of one step of a run.
package struct StepProgress: ProgressLine {
    package var name: String
    package var done: Int
    /// The total; zero when it is unknown.
    package var total: Int

    package init(name: String, done: Int = 0, total: Int = 0) {
        self.name = name
        self.done = done
        self.total = total
    }

    package func line(elapsed: Duration, width: Int) -> String {
        guard total > 0 else { return String(name.prefix(width)) }
        return bar(min(Double(done) / Double(total), 1), name, width: width)
    }
}

/// The progress of emitting lines.
struct Progress: Equatable, ProgressLine {
    var done = 0
    var failed = 0
    var readBytes = 0
    /// The size of the whole input; nil when it is unknown.
    var totalBytes: Int?

    func line(elapsed: Duration, width: Int) -> String {
        let rate = Double(done + failed) / max(elapsed / .seconds(1), 0.001)
        var text = "\(done) emitted"
        if failed > 0 { text += ", \(failed) failed" }
        text += ", \(Int(rate))/s"
        guard let totalBytes, totalBytes > 0 else { return String(text.prefix(width)) }
        return bar(min(Double(readBytes) / Double(totalBytes), 1), text, width: width)
    }
}
