import Glibc
import Locking
import Synchronization

/// Counts the calls of `malloc` and related functions on one thread. Calls by all libraries of this process are
/// counted, except calls by the C library itself.
///
/// The C library has no such counter. Other libraries call its functions through tables of addresses (ELF global offset
/// tables). During a count, these tables contain functions that count and then call the original. Only `schema bench`
/// counts allocations; a gateway never changes the tables.
enum AllocationCount {
    private typealias Allocate = @convention(c) (Int) -> UnsafeMutableRawPointer?
    private typealias AllocateCleared = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
    private typealias Resize = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
    private typealias AllocateAligned =
        @convention(c) (
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, Int, Int
        ) -> Int32

    private static let calls = Atomic<Int>(0)
    /// The thread whose allocations are counted.
    private static let thread = Atomic<UInt>(0)
    /// A lock that permits one count at a time.
    private static let turn = Lock(())
    // The original functions. They are set before the tables are changed, each time to the same value.
    nonisolated(unsafe) private static var malloc: Allocate = { Glibc.malloc($0) }
    nonisolated(unsafe) private static var calloc: AllocateCleared = { Glibc.calloc($0, $1) }
    nonisolated(unsafe) private static var realloc: Resize = { Glibc.realloc($0, $1) }
    nonisolated(unsafe) private static var memalign: AllocateAligned = { _, _, _ in ENOMEM }

    /// Returns the number of allocations of `body`; nil when the tables cannot be changed, or when a test allocation is
    /// not counted.
    static func during(_ body: () -> Void) -> Int? { turn.withLock { _ in count(during: body) } }

    private static func count(during body: () -> Void) -> Int? {
        guard let slots = countingSlots() else { return nil }
        thread.store(pthread_self(), ordering: .relaxed)
        for slot in slots { slot.place.pointee = slot.replacement }
        defer { for slot in slots { slot.place.pointee = slot.original } }
        let first = calls.load(ordering: .relaxed)
        UnsafeMutableRawPointer.allocate(byteCount: knownSize(), alignment: 8).deallocate()
        let start = calls.load(ordering: .relaxed)
        guard start > first else { return nil }
        body()
        return calls.load(ordering: .relaxed) - start
    }

    /// Returns a size that the compiler does not know. With a constant, the compiler would put the allocation on the
    /// stack.
    @inline(never) private static func knownSize() -> Int { 40 + calls.load(ordering: .relaxed) % 8 }

    private static func countingSlots() -> [ImportTables.Slot]? {
        guard let mallocAddress = address("malloc"), let callocAddress = address("calloc"),
            let reallocAddress = address("realloc"), let memalignAddress = address("posix_memalign")
        else { return nil }
        malloc = unsafeBitCast(mallocAddress, to: Allocate.self)
        calloc = unsafeBitCast(callocAddress, to: AllocateCleared.self)
        realloc = unsafeBitCast(reallocAddress, to: Resize.self)
        memalign = unsafeBitCast(memalignAddress, to: AllocateAligned.self)
        let countingMalloc: Allocate = { size in
            AllocationCount.record()
            return AllocationCount.malloc(size)
        }
        let countingCalloc: AllocateCleared = { number, size in
            AllocationCount.record()
            return AllocationCount.calloc(number, size)
        }
        let countingRealloc: Resize = { block, size in
            AllocationCount.record()
            return AllocationCount.realloc(block, size)
        }
        let countingMemalign: AllocateAligned = { block, alignment, size in
            AllocationCount.record()
            return AllocationCount.memalign(block, alignment, size)
        }
        let slots = ImportTables.slots(of: [
            "malloc": unsafeBitCast(countingMalloc, to: UnsafeMutableRawPointer.self),
            "calloc": unsafeBitCast(countingCalloc, to: UnsafeMutableRawPointer.self),
            "realloc": unsafeBitCast(countingRealloc, to: UnsafeMutableRawPointer.self),
            "posix_memalign": unsafeBitCast(countingMemalign, to: UnsafeMutableRawPointer.self),
        ])
        return slots.isEmpty ? nil : slots
    }

    private static func record() {
        if pthread_self() == thread.load(ordering: .relaxed) { calls.add(1, ordering: .relaxed) }
    }

    private static func address(_ name: String) -> UnsafeMutableRawPointer? { dlsym(nil, name) }
}
