import GatewayClient

/// A line of input with its number.
package struct InputLine: Equatable, Sendable {
    /// The number of the line, from 1.
    package let number: Int
    /// The bytes of the line; nil when the line exceeds the limit.
    package let bytes: [UInt8]?
}

/// Lines that are sent together.
package struct InputBatch: Equatable, Sendable {
    package var lines: [InputLine] = []
    /// The number of input bytes read so far.
    package var readBytes = 0
}

/// Groups lines into batches with a maximum number of lines and a maximum size. Blank lines are numbered but left out.
package struct BatchSplitter {
    package struct Limits: Sendable {
        package var lines: Int
        package var bytes: Int
        /// The number of bytes that each line needs in addition to its own bytes.
        package var overhead: Int
        package init(lines: Int = 500, bytes: Int, overhead: Int) {
            self.lines = lines
            self.bytes = bytes
            self.overhead = overhead
        }

        /// The maximum length of a line in bytes, so that every line fits into a batch.
        package var lineBytes: Int { max(1, bytes - overhead) }
    }

    private let limits: Limits
    private var splitter: LineSplitter
    private var batch = InputBatch()
    private var weight = 0
    private var number = 0
    private var readBytes = 0

    package init(_ limits: Limits) {
        self.limits = limits
        splitter = LineSplitter(limit: limits.lineBytes)
    }

    package var isEmpty: Bool { batch.lines.isEmpty }

    /// Returns the batches that these bytes complete.
    package mutating func batches(from bytes: [UInt8]) -> [InputBatch] {
        readBytes += bytes.count
        return splitter.lines(in: bytes).compactMap { add($0) }
    }

    /// Returns the last batches after the end of the input.
    package mutating func finish() -> [InputBatch] {
        [splitter.last().flatMap { add($0) }, flush()].compactMap(\.self)
    }

    /// Returns the lines gathered so far, or nil when there are none.
    package mutating func flush() -> InputBatch? {
        guard !batch.lines.isEmpty else { return nil }
        batch.readBytes = readBytes
        defer {
            batch = InputBatch()
            weight = 0
        }
        return batch
    }

    private mutating func add(_ line: LineSplitter.Line) -> InputBatch? {
        number += 1
        let bytes: [UInt8]?
        switch line {
        case .complete(let complete):
            if complete.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return nil }
            bytes = complete
        case .tooLong: bytes = nil
        }
        let cost = (bytes?.count ?? 0) + limits.overhead
        let isFull = batch.lines.count == limits.lines || weight + cost > limits.bytes
        let filled = isFull ? flush() : nil
        batch.lines.append(InputLine(number: number, bytes: bytes))
        weight += cost
        return filled
    }
}
