extension Pattern {
    /// One thing to do. Trivial, 16 bytes.
    struct Instruction {
        enum Code: UInt8 {
            case match
            /// Take one character of set `a`; `takeSymbol` likewise, where `a` is the only symbol of the set.
            case take, takeSymbol
            /// Take from `b` to `c` characters of set `a` (backtracking only); `runSymbol` likewise.
            case run, runSymbol
            /// Go on at `a`, and should that fail, at `b`.
            case split
            case jump
            /// Note the place in slot `a`.
            case save
            /// Forget the slots from `a` up to `b`.
            case forget
            /// Fail if nothing was taken since slot `a` was saved.
            case progress
            case textStart, textEnd, wordEdge, noWordEdge
            /// Try what follows up to `lookEnd` without taking anything, then go on at `a`.
            case look
            case lookEnd
            /// The text of the group whose slots begin at `a`.
            case reference
        }

        var code: Code
        /// Of `take`, `run` and `reference`: to the left, inside a lookbehind.
        var isBackward = false
        /// Of `run`: prefer more. Of `look`: must not match.
        var flag = false
        var a: Int32 = 0
        var b: Int32 = 0
        var c: Int32 = 0
    }

    /// A pattern as a list of instructions, with its character classes apart.
    struct Program {
        var instructions: [Instruction] = []
        var sets: [ScalarSet] = []
        /// Two for each group that is referred to, and one for each loop that must get on.
        var slotCount = 0
        /// A match can only begin at the start of the text.
        var isAnchored = false

        var looksAtWords: Bool {
            instructions.contains { $0.code == .wordEdge || $0.code == .noWordEdge }
        }

        /// The classes that the symbols of the alphabet must tell apart.
        var distinctions: [ScalarSet] { looksAtWords ? sets + [.words] : sets }
    }
}

extension Pattern.Program {
    /// Whether a match could begin in the middle of a text: some way into the program takes a character, or ends, without
    /// asking for the start first.
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
            case .save, .forget, .progress, .wordEdge, .noWordEdge: open.append(index + 1)
            // Whatever a lookaround finds, the match goes on behind it; its own content decides nothing here.
            case .look: open.append(Int(instruction.a))
            default: return true
            }
        }
        return false
    }
}
