/// What a schema comes down to: programs of small instructions in one array, and tables beside it, all plain bytes in one
/// block. Immutable after it is made, so any number of threads may read it.
final class Plan: @unchecked Sendable {
    // `@unchecked` for the raw memory: written in `init`, freed in `deinit`, only read between. The values of enums are
    // nodes of documents that `Schema` keeps.
    let view: PlanView
    let instructionCount: Int
    let byteCount: Int
    private let block: UnsafeMutableRawPointer
    /// Keeps the patterns that `view` names without counting references.
    private let patterns: [Pattern]

    init(_ tables: PlanTables, patterns: [Pattern]) {
        var layout = BlockLayout()
        let code = layout.place(tables.code)
        let slots = layout.place(tables.slots)
        let objects = layout.place(tables.objects)
        let patternRows = layout.place(tables.patternRows)
        let arrays = layout.place(tables.arrays)
        let contains = layout.place(tables.contains)
        let programs = layout.place(tables.programs)
        let lists = layout.place(tables.lists)
        let branches = layout.place(tables.branches)
        let switches = layout.place(tables.switches)
        let ranges = layout.place(tables.ranges)
        let divisors = layout.place(tables.divisors)
        let texts = layout.place(tables.texts)
        let sets = layout.place(tables.sets)
        let values = layout.place(tables.values)
        let matchers = patterns.map { Unmanaged.passUnretained($0) }
        let patternPlace = layout.place(matchers)
        let bytes = layout.place(tables.bytes)
        block = .allocate(byteCount: max(layout.size, 1), alignment: 64)
        self.patterns = patterns
        byteCount = layout.size
        instructionCount = tables.code.count
        view = PlanView(
            code: code.copy(into: block), slots: slots.copy(into: block), objects: objects.copy(into: block),
            patternRows: patternRows.copy(into: block), arrays: arrays.copy(into: block),
            contains: contains.copy(into: block), programs: programs.copy(into: block),
            lists: lists.copy(into: block), branches: branches.copy(into: block), switches: switches.copy(into: block),
            ranges: ranges.copy(into: block), divisors: divisors.copy(into: block), texts: texts.copy(into: block),
            sets: sets.copy(into: block), values: values.copy(into: block), patterns: patternPlace.copy(into: block),
            bytes: bytes.copy(into: block))
    }

    deinit { block.deallocate() }
}

/// The addresses of a plan's tables.
struct PlanView {
    let code: UnsafePointer<Instruction>
    let slots: UnsafePointer<Slot>
    let objects: UnsafePointer<ObjectTable>
    let patternRows: UnsafePointer<PatternRow>
    let arrays: UnsafePointer<ArrayTable>
    let contains: UnsafePointer<ContainsRow>
    let programs: UnsafePointer<UInt32>
    /// Numbers of texts.
    let lists: UnsafePointer<UInt32>
    let branches: UnsafePointer<Branch>
    let switches: UnsafePointer<SwitchTable>
    let ranges: UnsafePointer<NumberRange>
    let divisors: UnsafePointer<Divisor>
    let texts: UnsafePointer<PlanText>
    let sets: UnsafePointer<TextTable>
    let values: UnsafePointer<Node>
    let patterns: UnsafePointer<Unmanaged<Pattern>>
    let bytes: UnsafePointer<UInt8>
}

/// The tables while they grow.
struct PlanTables {
    var code: [Instruction] = []
    var slots: [Slot] = []
    var objects: [ObjectTable] = []
    var patternRows: [PatternRow] = []
    var arrays: [ArrayTable] = []
    var contains: [ContainsRow] = []
    var programs: [UInt32] = []
    var lists: [UInt32] = []
    var branches: [Branch] = []
    var switches: [SwitchTable] = []
    var ranges: [NumberRange] = []
    var divisors: [Divisor] = []
    var texts: [PlanText] = []
    var sets: [TextTable] = []
    var values: [Node] = []
    var bytes: [UInt8] = []

    /// What the limit on a plan counts.
    var rows: Int {
        code.count + slots.count + patternRows.count + programs.count + branches.count + texts.count + values.count
    }
}

/// Where each table lies in the block.
private struct BlockLayout {
    private(set) var size = 0

    struct Place<Element> {
        let elements: [Element]
        let offset: Int

        func copy(into block: UnsafeMutableRawPointer) -> UnsafePointer<Element> {
            let start = (block + offset).bindMemory(to: Element.self, capacity: elements.count)
            elements.withUnsafeBufferPointer { buffer in
                guard let source = buffer.baseAddress else { return }
                start.initialize(from: source, count: buffer.count)
            }
            return UnsafePointer(start)
        }
    }

    mutating func place<Element>(_ elements: [Element]) -> Place<Element> {
        // Cache lines are not shared between tables.
        let offset = (size + 63) & ~63
        size = offset + elements.count * MemoryLayout<Element>.stride
        return Place(elements: elements, offset: offset)
    }
}
