extension Pattern {
    struct Automaton { func matches(_ text: Text) -> Bool { false } }
    struct Simulation { func matches(_ text: Text, steps: inout Int) -> PatternVerdict { .noMatch } }
}
