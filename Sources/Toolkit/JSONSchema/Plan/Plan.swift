/// What a schema comes down to: programs of small instructions and the tables they name, all plain bytes in one block.
/// Immutable after it is made, so any number of threads may read it.
///
/// Every operand that names a program or a row of a table is the row's distance from the start of the block, in bytes: one
/// address is all an evaluation has to carry.
final class Plan: @unchecked Sendable {
    // `@unchecked` for the raw memory: written in `init`, freed in `deinit`, only read between. The values of enums are
    // nodes of documents that `Schema` keeps.
    let base: PlanBase
    let instructionCount: Int
    let byteCount: Int
    private let block: UnsafeMutableRawPointer
    /// Keeps the patterns that the block names without counting references.
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
    // The block is never written after it is made; whoever holds this keeps its `Plan`.
    let start: UnsafeRawPointer

    @inline(__always) func row<Row>(_ offset: UInt32, as type: Row.Type = Row.self) -> UnsafePointer<Row> {
        (start + Int(offset)).assumingMemoryBound(to: type)
    }

    @inline(__always) func code(_ program: UInt32) -> UnsafePointer<Instruction> { row(program) }
}

/// The tables while they grow. Operands are numbers of rows until `place`.
struct PlanTables {
    var code: [Instruction] = []
    var slots: [Slot] = []
    var objects: [ObjectTable] = []
    var patternRows: [PatternRow] = []
    var arrays: [ArrayTable] = []
    var contains: [ContainsRow] = []
    /// Programs of the elements of tuples.
    var programs: [UInt32] = []
    /// Names that must be there, as texts.
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
        code.count + slots.count + patternRows.count + programs.count + lists.count + branches.count + texts.count
            + values.count
    }
}
