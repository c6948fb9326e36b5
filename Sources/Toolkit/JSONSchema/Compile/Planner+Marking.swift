extension Planner {
    /// Returns the instructions of a rule that is evaluated for an enclosing `unevaluated*` keyword. They mark the
    /// members and elements that they evaluate.
    mutating func marked(_ rule: Rule.ID) throws(SchemaError) -> [Instruction] {
        if rules[rule].checks.contains(where: { $0.requirement.isUnevaluated }) {
            // The `unevaluated*` keyword of the rule considers only the marks that are set inside the rule. If the rule
            // passes, these marks are also set for the enclosing rule.
            return [Instruction(.region, a: Int(program(.body(rule))), b: 1)]
        }
        return try checked(rule)
    }

    /// Returns the instructions of a rule, followed by the instructions of its `unevaluated*` keywords.
    mutating func body(_ rule: Rule.ID) throws(SchemaError) -> [Instruction] {
        var code = try checked(rule)
        for check in rules[rule].checks {
            switch check.requirement {
            case .unevaluatedProperties(let others):
                code.append(Instruction(.unevaluatedMembers, a: Int(program([others]))))
            case .unevaluatedItems(let others):
                code.append(Instruction(.unevaluatedElements, a: Int(program([others]))))
            default: continue
            }
        }
        return code
    }

    private mutating func checked(_ rule: Rule.ID) throws(SchemaError) -> [Instruction] {
        var gatherer = ConjunctionBuilder(rules: rules, shapes: shapes, evaluated: evaluated)
        let evaluated = evaluated
        let plain = gatherer.gather(rule) { requirement in
            requirement.isUnevaluated || requirement.inPlace.contains(where: evaluated.contributes)
        }
        var code = try instructions(for: plain, marking: true)
        for check in rules[rule].checks where check.requirement.inPlace.contains(where: evaluated.contributes) {
            code += markedBranches(check.requirement)
        }
        return code
    }

    private mutating func markedProgram(_ rule: Rule.ID) -> UInt32 {
        let rule = shapes.target(rule)
        if shapes.isTrivial(rule) { return Programs.pass }
        return evaluated.contributes(rule) ? program(.marked(rule)) : program([rule])
    }

    private mutating func markedBranches(_ requirement: KeywordRequirement) -> [Instruction] {
        switch requirement {
        case .reference(let rule): return [Instruction(.call, a: Int(markedProgram(rule)))]
        case .allOf(let rules): return rules.map { Instruction(.call, a: Int(markedProgram($0))) }
        case .anyOf(let rules): return [markedChoice(.markAnyOf, rules)]
        case .oneOf(let rules): return [markedChoice(.markOneOf, rules)]
        case .not(let rule): return [Instruction(.not, a: Int(program([rule])))]
        case .conditional(let test, let then, let otherwise):
            return [
                Instruction(
                    .markConditional, a: Int(markedProgram(test)), b: Int(then.map { markedProgram($0) } ?? 0),
                    c: Int(otherwise.map { markedProgram($0) } ?? 0))
            ]
        case .dependentSchemas(let dependents): return markedDependents(dependents)
        case .dependencies(let needs, let dependents):
            return needs.map { dependentNames($0.name, $0.needs) } + markedDependents(dependents)
        default: return []
        }
    }

    private mutating func markedDependents(_ dependents: [(name: Name, rule: Rule.ID)]) -> [Instruction] {
        dependents.map { Instruction(.dependentSchema, a: text($0.name), b: Int(markedProgram($0.rule))) }
    }

    private mutating func markedChoice(_ operation: Operation, _ rules: [Rule.ID]) -> Instruction {
        let rows = rules.map { Branch(program: markedProgram($0), kinds: shapes.kinds[$0]) }
        let first = tables.branches.count
        tables.branches += rows
        return Instruction(operation, a: first, b: rows.count)
    }
}
