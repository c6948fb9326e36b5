import CJansson
@testable import JSON

/// Text to parsed document, positions of errors, raw parts, pointers.
enum DocumentsPart: Part {
    static let name = "documents"

    static func input(_ dice: inout Dice, _ corpus: Corpus) -> Input {
        switch dice.below(4) {
        case 0: return Input(bytes: dice.noise(200))
        case 1: return Input(bytes: dice.mutation(of: dice.value().bytes))
        case 2: return Input(bytes: dice.mutation(of: dice.pick(corpus.schemas).bytes))
        default:
            let bytes = dice.mutation(of: dice.pick(corpus.values), with: corpus.values).bytes
            return Input(bytes: dice.once(in: 2) ? bytes : dice.mutation(of: bytes))
        }
    }

    static func run(_ input: Input, _ dice: inout Dice, _ corpus: Corpus) -> Outcome {
        let limits = JSONLimits(depth: dice.pick([4, 64, 2048]), bytes: dice.pick([100, .max]))
        if let members = JSONScan.members(of: input.bytes, depth: limits.depth) {
            let parsed = try? JSONDocument.parse(input.bytes, numbers: .strict, duplicates: .refused)
            guard let parsed else { return .wrong("the scan accepts a text that jansson rejects") }
            json_decref(parsed)
            let raw = JSONText(trusted: input.bytes).memberRanges
            guard raw.map(\.name) == members.map(\.name), raw.map(\.value) == members.map(\.value) else {
                return .wrong("the scan finds other members")
            }
        }
        let numbers = dice.pick([JSONNumbers.strict, .lenient])
        let duplicates = dice.pick([JSONDuplicates.refused, .lastWins])
        do throws(JSONError) {
            let document = try JSONDocument(input.bytes, limits: limits, numbers: numbers, duplicates: duplicates)
            return Outcome(isAccepted: true, complaint: complaint(about: document, duplicates, &dice))
        } catch {
            let isPlaced = error.reason == .tooLarge || error.line > 0
            guard isPlaced, error.offset >= 0, error.offset <= input.bytes.count + 1, !error.message.isEmpty else {
                return .wrong("the error lies outside the text: \(error) at \(error.offset)")
            }
            return Outcome()
        }
    }

    private static func complaint(
        about document: JSONDocument, _ duplicates: JSONDuplicates, _ dice: inout Dice
    ) -> String? {
        if let members = document.rawMembers() {
            if duplicates == .refused, members.count != document.root.count { return "raw members are not the members" }
            for member in members where (try? JSONDocument(member.value)) == nil {
                return "a raw member does not parse"
            }
            if let name = members.last?.name, let value = document.text.rawMember(name),
                document.root[name] == nil || (try? JSONDocument(value)) == nil
            {
                return "a raw member is no member"
            }
        }
        if let elements = document.text.rawElements(), elements.count != document.root.count {
            return "raw elements are not the elements"
        }
        guard let line = try? JSONDocument(document.text.onOneLine()) else { return "one line does not parse" }
        if Tree(line.root).bytes != Tree(document.root).bytes { return "one line is another value" }
        if let again = Tree(Tree(document.root).bytes), again.bytes != Tree(document.root).bytes {
            return "printed and read again it is another value"
        }
        let text = "/" + dice.pick(SampleValues.strings) + "/" + dice.pick(["0", "1", "-1", "01", "99999999999999999999"])
        if let pointer = JSONPointer(text) { _ = document.root.at(pointer) }
        return nil
    }
}
