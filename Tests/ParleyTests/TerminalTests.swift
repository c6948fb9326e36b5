import Locking
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("A table") struct TableTests {
    @Test("aligns its columns and leaves no blanks at the end of a line")
    func alignment() {
        var table = Table(["id", "status", "types"])
        table.add(["wh_1", "enabled", "order.*, x"])
        table.add(["wh_long", "", "a"])
        table.add(["日本", "ok", ""])
        table.add(["short"])
        #expect(
            table.lines(.plain) == [
                "ID       STATUS   TYPES", "wh_1     enabled  order.*, x", "wh_long           a", "日本     ok", "short",
            ])
    }

    @Test("is as wide with colours as without")
    func colours() {
        var table = Table(["a", "b"])
        table.add(["1", "2"])
        #expect(table.lines(Style(isColoured: true)) == ["\u{1B}[1mA  B\u{1B}[0m", "1  2"])
    }

    @Test("lists pairs")
    func pairs() {
        #expect(Table.pairs([("id", "x"), ("status", "enabled")], .plain) == ["id      x", "status  enabled"])
    }
}

@Suite("Plain text") struct PlainTextTests {
    @Test(
        "escapes control characters",
        arguments: [
            ("a\u{1B}[2Jb", "a\\u{1b}[2Jb"), ("\u{9B}31m", "\\u{9b}31m"), ("a\r\nb\u{7}", "a\\u{d}\\u{a}b\\u{7}"),
            ("\u{202E}evil", "\\u{202e}evil"), ("héllo 日本 👍", "héllo 日本 👍"),
        ])
    func controls(_ text: String, _ shown: String) { #expect(SanitizedText.safe(text) == shown) }

    @Test("has colours on a terminal only, and not when the user disables them")
    func style() {
        #expect(Style(isTerminal: true, environment: [:]).isColoured)
        #expect(Style(isTerminal: true, environment: ["NO_COLOR": ""]).isColoured)
        #expect(!Style(isTerminal: true, environment: ["NO_COLOR": "1"]).isColoured)
        #expect(!Style(isTerminal: true, environment: ["TERM": "dumb"]).isColoured)
        #expect(!Style(isTerminal: false, environment: [:]).isColoured)
        #expect(Style.plain.bad("x") == "x")
    }
}

@Suite("Progress") struct ProgressTests {
    @Test("shows a bar when the end is known, within the width")
    func bar() {
        let progress = Progress(done: 400, failed: 2, readBytes: 50, totalBytes: 100)
        #expect(
            progress.line(elapsed: .seconds(2), width: 79)
                == "[####################--------------------] 50% 400 emitted, 2 failed, 201/s")
        #expect(progress.line(elapsed: .seconds(2), width: 30) == "50% 400 emitted, 2 failed, 201")
        for width in 0..<100 { #expect(progress.line(elapsed: .seconds(1), width: width).count <= width) }
    }

    @Test("shows counts when it is not")
    func counts() {
        #expect(Progress(done: 10).line(elapsed: .seconds(5), width: 79) == "10 emitted, 2/s")
        #expect(
            Progress(done: 10, readBytes: 9, totalBytes: 0).line(elapsed: .zero, width: 79) == "10 emitted, 10000/s")
    }

    @Test("is drawn ten times a second at most, and only on a terminal")
    func pace() {
        let drawn = Lock("")
        let time = Lock<UInt64>(0)
        func bar(isTerminal: Bool) -> ProgressBar {
            let sink = Sink(isTerminal: isTerminal, style: .plain) { bytes in
                drawn.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            }
            return ProgressBar(on: sink) { time.withLock { $0 } }
        }
        var silent = bar(isTerminal: false)
        silent.show(Progress(done: 1))
        silent.clear()
        #expect(drawn.withLock { $0 }.isEmpty)
        var bar = bar(isTerminal: true)
        bar.show(Progress(done: 1))
        time.withLock { $0 = 99_000_000 }
        bar.show(Progress(done: 2))
        time.withLock { $0 = 100_000_000 }
        bar.show(Progress(done: 3))
        bar.line("line 7: bad")
        #expect(
            drawn.withLock { $0 }
                == "\r1 emitted, 1000/s\u{1B}[K\r3 emitted, 30/s\u{1B}[K\r\u{1B}[Kline 7: bad\n")
    }
}
