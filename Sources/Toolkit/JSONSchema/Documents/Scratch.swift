import Glibc

/// The working memory of evaluations: an arena. Memory is allocated from the front of a block, and all memory is
/// released together.
///
/// The block is used again for the next evaluation. A thread that uses the same scratch for all evaluations therefore
/// allocates no memory for documents of a usual size. The size is limited. A document that needs more memory has the
/// verdict `exhausted`.
public struct Scratch: ~Copyable, @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the blocks have a single owner.
    private var block: UnsafeMutableRawPointer?
    private var capacity = 0
    private var used = 0
    /// The size of all blocks of this run in bytes. The blocks form a linked list that starts at the newest block
    /// (`Header`).
    private var total = 0
    private let limitBytes: Int

    /// The secret that makes the hashes of values unpredictable to senders.
    let seed: HashSeed

    /// The header of a block. It links the blocks, so that the list of blocks needs no additional memory.
    private struct Header {
        var older: UnsafeMutableRawPointer?
        /// Padding that aligns the following data to 16 bytes.
        var padding = 0
    }

    private static let firstBlockBytes = 16 << 10
    /// The size in bytes of the largest block that is not freed after a run. Larger blocks are freed, so that one large
    /// document does not use memory permanently.
    private static let keptBytes = 1 << 20

    /// Creates empty working memory. The first block is allocated when memory is needed.
    ///
    /// - Parameter limitBytes: the maximum number of bytes that one run may use, including a few bytes for each block.
    public init(limitBytes: Int = 16 << 20) { self.init(limitBytes: limitBytes, seed: .random) }

    init(limitBytes: Int, seed: HashSeed) {
        self.limitBytes = limitBytes
        self.seed = seed
    }

    deinit { Self.free(from: block) }

    /// Returns uninitialized memory for `count` values; nil when the limit of the run is reached. The memory is valid
    /// until `release(to:)` with an earlier mark, or until `reset`.
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

    /// A position in the memory. `release(to:)` releases the memory that was allocated after the mark. Marks must be
    /// released in reverse order.
    struct Mark {
        let block: UnsafeMutableRawPointer?
        fileprivate let used: Int
    }

    @inline(__always) var mark: Mark { Mark(block: block, used: used) }

    /// Releases the memory that was allocated after `mark`. If a block was added after `mark`, releases nothing, and
    /// the memory stays in use until `reset`. If every iteration of a loop releases its memory, memory stays in use
    /// only for iterations that add a block.
    @inline(__always) mutating func release(to mark: Mark) {
        if mark.block == block { used = mark.used }
    }

    /// Releases all memory before a run. Keeps only the newest block, which is the largest, unless it is larger than
    /// `keptBytes`.
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

    /// Allocates a new block that is at least twice as large as the previous block, within the limit. Repeated runs of
    /// the same size therefore soon need only one block. Returns false when the limit is reached or memory cannot be
    /// allocated.
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
