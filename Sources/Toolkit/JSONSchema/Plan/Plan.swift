/// A compiled schema: programs of small instructions and their tables, all plain bytes in one block. Immutable after
/// creation, so any number of threads may read it.
///
/// Every operand that refers to a program or a table row is a byte offset from the start of the block, so an evaluation
/// needs only one address.
final class Plan: @unchecked Sendable {
    // `@unchecked` because of the raw memory, which is written in `init`, freed in `deinit`, and only read in between.
    // The values of `enum` are nodes of documents that `Schema` keeps.
    let base: PlanBase
    let instructionCount: Int
    let byteCount: Int
    private let block: UnsafeMutableRawPointer
    /// Keeps the patterns alive, which the block references without counting.
    private let patterns: [Pattern]

    init(_ tables: PlanTables, patterns: [Pattern]) {
        let layout = PlanLayout(tables, patterns: patterns.count)
        var placed = tables
        placed.place(by: layout)
        block = .allocate(byteCount: layout.size, alignment: 64)
        placed.copy(to: block, by: layout)
        layout.patterns.copy(patterns.map { Unmanaged.passUnretained($0) }, to: block)
        base = PlanBase(start: UnsafeRawPointer(block))
        self.patterns = patterns
        byteCount = layout.size
        instructionCount = tables.code.count
    }

    deinit { block.deallocate() }
}

/// The start of a plan's block.
struct PlanBase: @unchecked Sendable {
    // The block is not written after its creation. The owner of this value keeps the `Plan`.
    let start: UnsafeRawPointer

    @inline(__always) func row<Row>(_ offset: UInt32, as type: Row.Type = Row.self) -> UnsafePointer<Row> {
        (start + Int(offset)).assumingMemoryBound(to: type)
    }

    @inline(__always) func code(_ program: UInt32) -> UnsafePointer<Instruction> { row(program) }
}

/// The tables under construction. Operands are row numbers until `place`.
struct PlanTables {
    var code: [Instruction] = []
    var slots: [Slot] = []
    var objects: [ObjectTable] = []
    var patternRows: [PatternRow] = []
    var arrays: [ArrayTable] = []
    var contains: [ContainsRow] = []
    /// The programs of tuple elements.
    var programs: [UInt32] = []
    /// Required names, as texts.
    var lists: [UInt32] = []
    var branches: [Branch] = []
    var switches: [SwitchTable] = []
    var ranges: [NumberRange] = []
    var divisors: [Divisor] = []
    var texts: [PlanText] = []
    var sets: [TextTable] = []
    var values: [Node] = []
    var bytes: [UInt8] = []

    /// The number of rows that counts against the limit of a plan.
    var rows: Int {
        code.count + slots.count + patternRows.count + programs.count + lists.count + branches.count + texts.count
            + values.count
    }
}
