import Glibc

/// Working memory of evaluations. Memory is taken from the front of a block and released all at once.
///
/// The block is kept for the next evaluation, so a thread that keeps its scratch allocates nothing for documents of the
/// usual size. The size is limited; a document that needs more ends with the verdict `exhausted`.
public struct Scratch: ~Copyable, @unchecked Sendable {
    // Safe to pass to another thread, because the blocks have a single owner.
    private var block: UnsafeMutableRawPointer?
    private var capacity = 0
    private var used = 0
    /// Bytes of all blocks of this run. The older blocks are linked from the newest (`Header`).
    private var total = 0
    private let limitBytes: Int

    /// Makes the hashes of values unpredictable to senders.
    let seed: HashSeed

    /// The header of a block, so that the list of blocks needs no separate memory.
    private struct Header {
        var older: UnsafeMutableRawPointer?
        /// Aligns the following data to 16 bytes.
        var padding = 0
    }

    private static let firstBlockBytes = 16 << 10
    /// Largest block that is kept after a run, so that one large document does not occupy memory permanently.
    private static let keptBytes = 1 << 20

    /// - Parameter limitBytes: the most bytes one run may use, including a few bytes per block.
    public init(limitBytes: Int = 16 << 20) { self.init(limitBytes: limitBytes, seed: .random) }

    init(limitBytes: Int, seed: HashSeed) {
        self.limitBytes = limitBytes
        self.seed = seed
    }

    deinit { Self.free(from: block) }

    /// Returns uninitialized memory for `count` values; nil when the run has used its limit. The memory is valid until
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

    /// A position to which memory can be released. Marks nest: the last one is released first.
    struct Mark {
        let block: UnsafeMutableRawPointer?
        fileprivate let used: Int
    }

    @inline(__always) var mark: Mark { Mark(block: block, used: used) }

    /// Releases the memory allocated since `mark`. If a block was added since then, it releases nothing: that memory
    /// stays in use until `reset`. A loop therefore keeps unreleased memory at most once for each added block.
    @inline(__always) mutating func release(to mark: Mark) {
        if mark.block == block { used = mark.used }
    }

    /// Releases everything. Called before each run. Keeps the newest block, which is the largest.
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

    /// Allocates a block at least twice as large as the previous one, so that after a run of any size the newest block
    /// alone suffices for the next run but one of that size.
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
