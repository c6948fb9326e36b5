/// A line of input and its place in it.
package struct InputLine: Equatable, Sendable {
    /// From 1.
    package let number: Int
    /// Nil when it was too long to be kept.
    package let bytes: [UInt8]?
}

/// Lines that travel together.
package struct InputBatch: Equatable, Sendable {
    package var lines: [InputLine] = []
    /// How much of the input has been read up to here.
    package var readBytes = 0
}

/// Gathers lines into batches of bounded length and weight. Blank lines count as lines and are left out.
package struct BatchSplitter {
    package struct Limits: Sendable {
        package var lines: Int
        package var bytes: Int
        /// Bytes that every line costs beside its own.
        package var overhead: Int
        package init(lines: Int = 500, bytes: Int, overhead: Int) {
            self.lines = lines
            self.bytes = bytes
            self.overhead = overhead
        }

        /// A line must fit into a batch of its own.
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

    /// The batches that these bytes fill.
    package mutating func batches(from bytes: [UInt8]) -> [InputBatch] {
        readBytes += bytes.count
        return splitter.lines(in: bytes).compactMap { add($0) }
    }

    /// The last batches, when the input has ended.
    package mutating func finish() -> [InputBatch] {
        [splitter.last().flatMap { add($0) }, flush()].compactMap(\.self)
    }

    /// What has been gathered; nil when nothing has.
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
