extension Pattern {
    /// A table from (state, symbol) to state, complete before the first text arrives, so that threads share it without a
    /// lock. One pass over the text, two or three loads per byte.
    struct Automaton {
        /// Rows of cells. A state is the place of its row; the first row is the dead state, the second the accepting one.
        private let cells: UnsafePointer<UInt16>
        /// Cells in a row: one for each symbol, and one for the end of the text.
        private let width: Int
        private let first: Int
        private let alphabet: Alphabet

        init(_ draft: SubsetConstruction.Table, _ alphabet: Alphabet, memory: PatternMemory) {
            cells = memory.keep(draft.cells)
            width = draft.width
            first = draft.first
            self.alphabet = alphabet
        }

        func matches(_ text: Text) -> Bool {
            var place = text.start
            var state = first
            while place < text.end, state > width {
                state = Int(cells[state &+ alphabet.next(&place, text.end)])
            }
            return Int(cells[state &+ width &- 1]) == width
        }
    }
}
