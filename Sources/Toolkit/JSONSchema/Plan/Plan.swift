/// The plan of a schema: programs of small instructions and their tables, as plain bytes in one block of memory. A plan
/// does not change after its creation, so all threads may read it.
///
/// Every operand that refers to a program or a table row is a byte offset from the start of the block, so an evaluation
/// needs only one address.
final class Plan: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the raw memory is written only in `init` and freed in `deinit`. The values
    // of `enum` are nodes of documents that `Schema` keeps alive.
    let base: PlanBase
    let instructionCount: Int
    let byteCount: Int
    private let block: UnsafeMutableRawPointer
    /// The patterns of the plan. The block contains unretained references to them.
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

/// The start of the memory block of a plan.
struct PlanBase: @unchecked Sendable {
    // The block is not changed after its creation. The owner of this value must keep the `Plan` alive.
    let start: UnsafeRawPointer

    @inline(__always) func row<Row>(_ offset: UInt32, as type: Row.Type = Row.self) -> UnsafePointer<Row> {
        (start + Int(offset)).assumingMemoryBound(to: type)
    }

    @inline(__always) func code(_ program: UInt32) -> UnsafePointer<Instruction> { row(program) }
}

/// The tables of a plan while it is built. Operands are row numbers until ``place(by:)`` converts them into offsets.
struct PlanTables {
    var code: [Instruction] = []
    var slots: [Slot] = []
    var objects: [ObjectTable] = []
    var patternRows: [PatternRow] = []
    var arrays: [ArrayTable] = []
    var contains: [ContainsRow] = []
    /// The programs of tuple elements.
    var programs: [UInt32] = []
    /// Lists of required names. Each name is a row number in `texts`.
    var lists: [UInt32] = []
    var branches: [Branch] = []
    var switches: [SwitchTable] = []
    var ranges: [NumberRange] = []
    var divisors: [Divisor] = []
    var texts: [PlanText] = []
    var sets: [TextTable] = []
    var values: [Node] = []
    var bytes: [UInt8] = []

    /// The number of rows of all tables, which counts against the limit of a plan.
    var rows: Int {
        code.count + slots.count + patternRows.count + programs.count + lists.count + branches.count + texts.count
            + values.count
    }
}
