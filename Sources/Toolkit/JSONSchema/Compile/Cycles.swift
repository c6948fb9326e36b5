/// Looks for rules that lead back to themselves on the same value: such a schema would never finish.
enum Cycles {
    private enum Mark { case new, open, done }

    /// The rules in an order in which each comes after all it applies to the same value.
    ///
    /// Depth first without recursion: a chain of references may be as long as the schema.
    static func order(of rules: [Rule], _ index: SchemaIndex) throws(SchemaError) -> [Rule.ID] {
        var order: [Rule.ID] = []
        order.reserveCapacity(rules.count)
        var marks = [Mark](repeating: .new, count: rules.count)
        for start in rules.indices where marks[start] == .new {
            var path: [(rule: Rule.ID, next: [Rule.ID])] = [(start, edges(of: rules[start]))]
            marks[start] = .open
            while let top = path.last {
                guard let next = top.next.last else {
                    marks[top.rule] = .done
                    order.append(top.rule)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next.removeLast()
                switch marks[next] {
                case .done: continue
                case .open: throw refusal(path.map(\.rule), back: next, rules, index)
                case .new:
                    marks[next] = .open
                    path.append((next, edges(of: rules[next])))
                }
            }
        }
        return order
    }

    private static func edges(of rule: Rule) -> [Rule.ID] { rule.checks.flatMap(\.demand.inPlace) }

    private static func refusal(
        _ path: [Rule.ID], back to: Rule.ID, _ rules: [Rule], _ index: SchemaIndex
    ) -> SchemaError {
        let cycle = path.drop(while: { $0 != to }) + [to]
        let places = cycle.map { index.display(index.subschemas[rules[$0].subschema].place) }
        let shown = places.count > 6 ? places.prefix(3) + ["…"] + places.suffix(2) : places[...]
        return SchemaError(
            .cycle, "the schema applies itself to the same value without end: \(shown.joined(separator: " → "))",
            at: places.first ?? "#")
    }
}
