import GatewayClient
import Glibc
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("Lines") struct LineSplitterTests {
    func lines(_ parts: [String], limit: Int = 100) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: limit)
        var lines = parts.flatMap { splitter.lines(in: Array($0.utf8)) }
        if let last = splitter.last() { lines.append(last) }
        return lines
    }

    func complete(_ text: String) -> LineSplitter.Line { .complete(Array(text.utf8)) }

    @Test("end where they end, however the bytes come")
    func cuts() {
        let text = "a\r\nbc\n\nd\re\nlast"
        let whole = [complete("a"), complete("bc"), complete(""), complete("d\re"), complete("last")]
        #expect(lines([text]) == whole)
        #expect(lines(text.unicodeScalars.map { String($0) }) == whole)
        #expect(lines([]) == [])
        #expect(lines(["x\n"]) == [complete("x")])
    }

    @Test("that are too long are dropped, and only they")
    func limit() {
        for parts in [["12345\n123456\nx\n123456"], ["1234", "5\n123", "456\nx", "\n12", "34", "56"]] {
            #expect(lines(parts, limit: 5) == [complete("12345"), .tooLong, complete("x"), .tooLong])
        }
        #expect(lines(["12345\r\n123456\r\n"], limit: 5) == [complete("12345"), .tooLong])
    }
}

@Suite("Batches of lines") struct BatchCutterTests {
    func batches(_ text: String, lines: Int = 3, bytes: Int = 1000, overhead: Int = 0) -> [[Int]] {
        var cutter = BatchSplitter(.init(lines: lines, bytes: bytes, overhead: overhead))
        return (cutter.batches(from: Array(text.utf8)) + cutter.finish()).map { $0.lines.map(\.number) }
    }

    @Test("hold a bounded number of lines; blank ones count only in numbering")
    func count() {
        #expect(batches("a\nb\n\n \nc\nd\n") == [[1, 2, 5], [6]])
        #expect(batches("") == [])
        #expect(batches("\n\n") == [])
    }

    @Test("weigh no more than a request may, what is added to each line included")
    func weight() {
        #expect(batches("aaaa\nbbbb\ncccc\n", bytes: 10) == [[1, 2], [3]])
        #expect(batches("aaaa\nbbbb\ncccc\n", bytes: 10, overhead: 2) == [[1], [2], [3]])
    }

    @Test("keep the place of a line that fits in none")
    func tooLong() {
        var cutter = BatchSplitter(.init(lines: 10, bytes: 10, overhead: 2))
        let batches = cutter.batches(from: Array("12345678\n123456789\nx\n".utf8)) + cutter.finish()
        #expect(batches.flatMap(\.lines).map(\.number) == [1, 2, 3])
        #expect(batches.flatMap(\.lines).map { $0.bytes == nil } == [false, true, false])
        #expect(batches.last?.readBytes == 21)
    }
}

@Suite("The input") struct InputFeedTests {
    @Test("hands out what has come while its writer is silent, and ends when the writer does")
    func pipes() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let feed = try InputReader(descriptor: ends[0], limits: .init(bytes: 1000, overhead: 0))
        func put(_ text: String) { _ = write(ends[1], text, text.utf8.count) }
        put("one\nhalf")
        #expect(try await feed.next()?.lines.map(\.number) == [1])
        put("-two\n")
        let second = try await feed.next()
        #expect(second?.lines.first?.bytes == Array("half-two".utf8))
        put("three")
        close(ends[1])
        #expect(try await feed.next()?.lines.map(\.number) == [3])
        #expect(try await feed.next() == nil)
        #expect(try await feed.next() == nil)
    }

    @Test("keeps its order and loses nothing when it is read slowly")
    func backPressure() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        let writer = Task {
            // Far more than a pipe and the waiting batches hold: the test ends only if reading continues.
            for number in 1...2000 {
                let line = "\(number) " + String(repeating: "x", count: 990) + "\n"
                var rest = Array(line.utf8)[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
                    if count < 0 { break }
                    rest = rest.dropFirst(count)
                }
            }
            close(writing)
        }
        let feed = try InputReader(descriptor: reading, limits: .init(lines: 7, bytes: 100_000, overhead: 0))
        var numbers: [Int] = []
        while let batch = try await feed.next() {
            #expect(batch.lines.count <= 7)
            numbers += batch.lines.map(\.number)
        }
        await writer.value
        #expect(numbers == Array(1...2000))
    }

    @Test("that cannot be read is a failure, not an end")
    func unreadable() async throws {
        let feed = try InputReader(descriptor: open("/tmp", O_RDONLY), limits: .init(bytes: 1000, overhead: 0))
        await #expect(throws: CommandFailure.self) { try await feed.next() }
    }
}
