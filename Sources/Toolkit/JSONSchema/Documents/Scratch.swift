import Glibc

/// Working memory of evaluations: handed out from the front of a block and taken back all at once.
///
/// The block stays for the next run, so a thread that keeps its scratch allocates nothing once it has seen its usual
/// documents. Bounded: a document that wants more ends as exhausted instead.
public struct Scratch: ~Copyable, @unchecked Sendable {
    // Safe to hand to another thread: the blocks have this one owner.
    private var block: UnsafeMutableRawPointer?
    private var capacity = 0
    private var used = 0
    /// Bytes of all blocks of this run; the older ones hang on the newest (`Header`).
    private var total = 0
    private let limitBytes: Int

    /// Makes hashes of values unpredictable to whoever sends them.
    let seed: HashSeed

    /// What a block begins with, so that the list of blocks needs no memory of its own.
    private struct Header {
        var older: UnsafeMutableRawPointer?
        /// Keeps what follows aligned to 16 bytes.
        var padding = 0
    }

    private static let firstBlockBytes = 16 << 10
    /// A block above this is given back after the run: one large document shall not hold memory for good.
    private static let keptBytes = 1 << 20

    /// - Parameter limitBytes: what one run may use, less some bytes per block.
    public init(limitBytes: Int = 16 << 20) { self.init(limitBytes: limitBytes, seed: .random) }

    init(limitBytes: Int, seed: HashSeed) {
        self.limitBytes = limitBytes
        self.seed = seed
    }

    deinit { Self.free(from: block) }

    /// Uninitialised memory for `count` values; nil when the run has used up its bytes. It is valid until
    /// `release(to:)` an earlier mark, or `reset`.
    mutating func allocate<Value: BitwiseCopyable>(
        _ count: Int, of type: Value.Type
    ) -> UnsafeMutablePointer<Value>? {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Value>.stride)
        guard !overflow, bytes <= limitBytes else { return nil }
        let rounded = (bytes + 15) & ~15
        if used + rounded > capacity, !grow(by: rounded) { return nil }
        guard let start = block else { return nil }
        defer { used += rounded }
        return (start + used).bindMemory(to: type, capacity: count)
    }

    /// A point to go back to. Runs nest: what is released last was marked first.
    struct Mark {
        let block: UnsafeMutableRawPointer?
        fileprivate let used: Int
    }

    @inline(__always) var mark: Mark { Mark(block: block, used: used) }

    /// Takes back what was handed out since. Across a change of block nothing is taken back before `reset`; the marks
    /// that follow lie in the new block, so a loop loses this at most once per block.
    @inline(__always) mutating func release(to mark: Mark) {
        if mark.block == block { used = mark.used }
    }

    /// Takes back everything. Called before each run; keeps the newest block, which is the largest.
    mutating func reset() {
        guard let newest = block else { return }
        if capacity > Self.keptBytes {
            Self.free(from: newest)
            block = nil
            (capacity, used, total) = (0, 0, 0)
            return
        }
        Self.free(from: newest.load(as: Header.self).older)
        newest.storeBytes(of: Header(), as: Header.self)
        (used, total) = (MemoryLayout<Header>.stride, capacity)
    }

    /// Each block is at least twice the one before it: after one run of any size the newest block alone serves the next
    /// but one of that size.
    private mutating func grow(by bytes: Int) -> Bool {
        let needed = bytes + MemoryLayout<Header>.stride
        let size = min(max(needed, 2 * capacity, Self.firstBlockBytes), limitBytes - total)
        guard size >= needed, let fresh = malloc(size) else { return false }
        fresh.storeBytes(of: Header(older: block), as: Header.self)
        block = fresh
        capacity = size
        total += size
        used = MemoryLayout<Header>.stride
        return true
    }

    private static func free(from newest: UnsafeMutableRawPointer?) {
        var next = newest
        while let block = next {
            next = block.load(as: Header.self).older
            Glibc.free(block)
        }
    }
}
