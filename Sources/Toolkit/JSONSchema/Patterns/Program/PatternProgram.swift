extension Pattern {
    /// An instruction of a program. It has 16 bytes.
    struct Instruction {
        enum Code: UInt8 {
            case match
            /// Consume one character. `a` is the set of characters for `consume`, and the only symbol of the set for
            /// `consumeSymbol`.
            case consume, consumeSymbol
            /// Consume between `b` and `c` characters (backtracking only). `a` is the set for `run`, and the only
            /// symbol for `runSymbol`.
            case run, runSymbol
            /// Continue at instruction `a`. If that fails, continue at `b`.
            case split
            case jump
            /// Store the text position in slot `a`.
            case save
            /// Clear the slots from `a` up to `b`.
            case forget
            /// Fail if no character was consumed since slot `a` was stored.
            case progress
            case textStart, textEnd, wordBoundary, noWordBoundary
            /// Match the instructions up to `lookaroundEnd`, then return to the same text position and continue at `a`.
            /// If `flag` is true, continue at `a` only if the instructions do not match.
            case lookaround
            case lookaroundEnd
            /// Match the text of the group whose slots start at `a`.
            case reference
        }

        var code: Code
        /// For `consume`, `run` and `reference`: true to match backward, inside a lookbehind.
        var isBackward = false
        /// For `run`: true to prefer more characters (greedy). For `lookaround`: true when the content must not match
        /// (negative).
        var flag = false
        var a: Int32 = 0
        var b: Int32 = 0
        var c: Int32 = 0
    }

    /// A pattern as a list of instructions, with a separate list of character classes.
    struct Program {
        var instructions: [Instruction] = []
        var sets: [ScalarSet] = []
        /// The number of slots: two for each referenced group, and one for each loop that must make progress.
        var slotCount = 0
        /// True when a match can only begin at the start of the text.
        var isAnchored = false

        var usesWordBoundaries: Bool {
            instructions.contains { $0.code == .wordBoundary || $0.code == .noWordBoundary }
        }

        /// The classes that the symbols of the alphabet must distinguish.
        var distinctions: [ScalarSet] { usesWordBoundaries ? sets + [.words] : sets }
    }
}

extension Pattern.Program {
    /// Returns true when a match can begin after the start of the text. This is the case when a path through the
    /// program consumes a character, or ends, without an earlier `textStart`.
    func isReachableWithoutTextStart() -> Bool {
        var seen = [Bool](repeating: false, count: instructions.count)
        var open = [0]
        while let index = open.popLast() {
            if seen[index] { continue }
            seen[index] = true
            let instruction = instructions[index]
            switch instruction.code {
            case .textStart: continue
            case .jump: open.append(Int(instruction.a))
            case .split: open += [Int(instruction.a), Int(instruction.b)]
            case .save, .forget, .progress, .wordBoundary, .noWordBoundary: open.append(index + 1)
            // Only the instructions after the lookaround are considered. Its content consumes no characters.
            case .lookaround: open.append(Int(instruction.a))
            default: return true
            }
        }
        return false
    }
}
