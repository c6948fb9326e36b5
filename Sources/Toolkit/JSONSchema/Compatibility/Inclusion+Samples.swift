import JSON

/// Creates sample values, which may become witnesses of an incompatibility. A sample may be wrong, because each sample
/// is evaluated with both versions before it is reported. Samples are small.
extension Inclusion {
    /// Returns a few values of each kind that probably satisfy the constraints.
    mutating func samples(of facts: ValueConstraints, breadth: Int = 4) -> [JSONText] {
        guard needsSamples, samplingDepth < Self.samplingLimit, spend() else { return [] }
        samplingDepth += 1
        defer { samplingDepth -= 1 }
        var samples: [JSONText] = []
        for branch in branches(of: facts).prefix(8) where !branch.isNothing && samples.count < 4 * breadth {
            for kind in Self.sampledKinds where !branch.kinds.isDisjoint(with: kind) {
                let part = branch.restricted(to: kind)
                let made = part.values.map { listed($0, part) } ?? made(part, breadth)
                let fresh = made.filter { !samples.contains($0) }.prefix(2 * breadth)
                samples += fresh.filter { isPlausible($0, part) }.prefix(breadth)
            }
        }
        return samples
    }

    private static let sampledKinds: [KindSet] = [.string, .integer, .fraction, .boolean, .null, .array, .object]
    /// The maximum nesting of required members in a sample.
    private static let samplingLimit = 12
    static let sampleBytes = 64 * 1024

    private func listed(_ values: [JSONValue], _ part: ValueConstraints) -> [JSONText] {
        values.prefix(32).map(JSONText.init(printing:))
    }

    private mutating func made(_ part: ValueConstraints, _ breadth: Int) -> [JSONText] {
        switch part.kinds {
        case .string: return strings(part, lengths: [part.minLength, max(part.minLength, 1)])
        case .array: return arrays(part, breadth)
        case .object: return objects(part, breadth)
        case .boolean: return ["true", "false"].map { JSONText(trusted: Array($0.utf8)) }
        case .null: return [.null]
        default: return numbers(part)
        }
    }

    /// Returns false when a rule of the constraints rejects the value, or when the value satisfies a rule that it must
    /// violate. Rules with an undecided result are ignored.
    private mutating func isPlausible(_ text: JSONText, _ part: ValueConstraints) -> Bool {
        guard let document = try? JSONDocument(text.bytes) else { return false }
        return part.rules.allSatisfy { holds(document.root, $0) != false }
            && part.nots.allSatisfy { holds(document.root, $0) != true }
    }

    private mutating func sample(of rules: [RuleRef]) -> JSONText? {
        rules.isEmpty ? JSONText(trusted: [UInt8(ascii: "0")]) : samples(of: facts(of: rules), breadth: 1).first
    }

    // MARK: - Objects

    /// Returns sample objects: the smallest object and, if `breadth` is above 1, objects with other sample values of
    /// their required and optional members.
    private mutating func objects(_ part: ValueConstraints, _ breadth: Int) -> [JSONText] {
        var made = [object(part)]
        for name in part.knownNames.prefix(breadth > 1 ? 24 : 0) where !part.required.contains(name) {
            for value in samples(of: facts(of: part.children(named: name)), breadth: breadth / 2).prefix(breadth) {
                made.append(object(part, with: [(name, value)]))
            }
        }
        for name in part.required.prefix(breadth > 1 ? 24 : 0) {
            for value in samples(of: facts(of: part.children(named: name)), breadth: breadth / 2).prefix(breadth) {
                made.append(object(part, with: [(name, value)]))
            }
        }
        return made.compactMap(\.self)
    }

    /// Returns an object with the required members and the given members, or nil when none can be created. Creates a
    /// value for each of these members for which no value is given.
    mutating func object(
        _ part: ValueConstraints, with given: [(name: Name, value: JSONText?)] = [], without: Set<Name> = [],
        count: Int = 0
    ) -> JSONText? {
        guard needsSamples else { return nil }
        let facts = given.reduce(having(part)) { having($1.name, $0) }
        var members: [(name: Name, value: JSONText)] = []
        for name in facts.required {
            if without.contains(name) { return nil }
            let value = given.first { $0.name == name }?.value ?? sample(of: facts.children(named: name))
            guard let value else { return nil }
            members.append((name, value))
        }
        let wanted = max(count, facts.minProperties)
        guard wanted <= 1_000 else { return nil }
        var spare = (facts.knownNames + Self.inventedNames + (0..<wanted).map { Name("n\($0)") })[...]
        while members.count < wanted, let name = spare.popFirst() {
            if without.contains(name) || members.contains(where: { $0.name == name }) { continue }
            if let value = sample(of: facts.children(named: name)) { members.append((name, value)) }
        }
        guard members.count >= wanted, members.count <= facts.maxProperties else { return nil }
        return Self.bounded { writer in
            writer.beginObject()
            for member in members {
                writer.key(text: member.name.text)
                writer.raw(member.value)
            }
            writer.endObject()
        }
    }

    /// Returns the constraints on an object, including the requirements that apply because its required members are
    /// present.
    private mutating func having(_ part: ValueConstraints) -> ValueConstraints {
        part.required.first.map { having($0, part) } ?? part
    }

    // MARK: - Arrays

    private mutating func arrays(_ part: ValueConstraints, _ breadth: Int) -> [JSONText] {
        var made = [array(part)]
        for value in samples(of: facts(of: part.children(at: 0)), breadth: breadth / 2).prefix(breadth) {
            made.append(array(part, with: [0: value]))
        }
        return made.compactMap(\.self)
    }

    /// Returns the shortest possible array with the given elements at their positions; nil when none can be created.
    mutating func array(_ part: ValueConstraints, with given: [Int: JSONText] = [:], count: Int = 0) -> JSONText? {
        guard needsSamples else { return nil }
        var wanted: [RuleRef?] = []
        for row in part.contains { wanted += Array(repeating: row.rule, count: min(row.minimum, 1_000)) }
        let fixed = (given.keys.max() ?? -1) + 1
        let count = max(part.minItems, fixed + wanted.count, count)
        guard count <= min(part.maxItems, 1_000) else { return nil }
        var elements: [JSONText] = []
        for index in 0..<count {
            if let value = given[index] {
                elements.append(value)
                continue
            }
            var rules = part.children(at: index)
            if let rule = wanted.popLast() { rules += rule.map { [$0] } ?? [] }
            guard let value = element(rules, apartFrom: part.isUnique ? elements : []) else { return nil }
            elements.append(value)
        }
        return Self.bounded { writer in
            writer.beginArray()
            for element in elements { writer.raw(element) }
            writer.endArray()
        }
    }

    private mutating func element(_ rules: [RuleRef], apartFrom taken: [JSONText]) -> JSONText? {
        if taken.isEmpty { return sample(of: rules) }
        if rules.isEmpty { return JSONText(trusted: Array("\(taken.count)".utf8)) }
        return samples(of: facts(of: rules), breadth: taken.count + 2).first { !taken.contains($0) }
    }

    private static func bounded(_ print: (inout JSONWriter) -> Void) -> JSONText? {
        let text = JSONText(print)
        return text.count <= sampleBytes ? text : nil
    }

    // MARK: - Searching

    /// Returns sample values for the whole schema. Used when no gap has provided a witness.
    mutating func variety(of rules: [RuleRef]) -> [JSONText] {
        refill()
        return samples(of: facts(of: rules), breadth: 16)
    }
}
