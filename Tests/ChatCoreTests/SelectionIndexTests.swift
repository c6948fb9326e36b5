import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@Suite("The index of selections") struct SelectionIndexTests {
    /// Returns the selections that an event matches, by asking those that the index finds. Each must be found once.
    private static func found(_ index: SelectionIndex, _ selections: [Selection], _ event: Event) -> [Int] {
        let subject = FilterSubject(event)
        var found: [Int] = []
        index.visit(subject) { number in
            if selections[Int(number)].admits(subject) { found.append(Int(number)) }
        }
        return found.sorted()
    }

    private static func asked(_ index: SelectionIndex, _ event: Event) -> Int {
        var count = 0
        index.visit(FilterSubject(event)) { _ in count += 1 }
        return count
    }

    private static func index(_ selections: [Selection]) -> SelectionIndex {
        var index = SelectionIndex()
        for (number, selection) in selections.enumerated() { index.insert(UInt32(number), selection) }
        return index
    }

    @Test("finds what asking every selection finds, even after some have left", arguments: [UInt64](1...40))
    func agreement(seed: UInt64) throws {
        var chance = Chance(seed)
        let selections = (0..<80).map { _ in chance.selection() }
        let events = (0..<40).map { chance.event(UInt64($0 + 1)) }
        var index = Self.index(selections)
        var here = Set(selections.indices)
        var matches = 0
        for _ in 0..<3 {
            for event in events {
                let subject = FilterSubject(event)
                let wanted = here.filter { selections[$0].admits(subject) }.sorted()
                matches += wanted.count
                #expect(Self.found(index, selections, event) == wanted, "\(event.channel) \(event.type) \(event.data)")
            }
            for number in here where Bool.random(using: &chance.numbers) {
                index.remove(UInt32(number), selections[number])
                here.remove(number)
            }
        }
        #expect(matches > 0)
        for number in here { index.remove(UInt32(number), selections[number]) }
        #expect(index.isEmpty)
    }

    @Test(
        "asks few of a thousand with a filter each",
        arguments: [
            "data.n == #", "# == data.n", "data.n == '#'", "data.live == true && data.n == #",
            "data.text CONTAINS 'x' && data.n == #", "data.n == # || data.m == #", "(#, 'n#') CONTAINS data.n",
            "data.tags CONTAINS #", "!(data.hidden == true) && (data.n == # && data.live == true)",
        ])
    func few(pattern: String) throws {
        let selections = try (0..<1000).map { number in
            selection(
                ["orders"],
                filter: try Filter(
                    pattern.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number)")))
        }
        let index = Self.index(selections)
        let hit = event(1, on: "orders", data: #"{"n":17,"m":-1,"live":true,"text":"xy","tags":["a",17]}"#)
        #expect(Self.found(index, selections, hit) == [17])
        #expect(Self.asked(index, hit) < 10)
        let miss = event(2, on: "orders", data: #"{"n":-1,"live":true}"#)
        #expect(Self.found(index, selections, miss) == [])
        #expect(Self.asked(index, miss) < 10)
    }

    @Test("asks few of a thousand with a type each, by name or by prefix", arguments: ["order.#", "order.#.*"])
    func types(pattern: String) {
        let selections = (0..<1000).map { number in
            let text = pattern.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number)")
            return selection(["*"], types: [NamePattern(text), .exact("other.\(number)")].compactMap { $0 })
        }
        let index = Self.index(selections)
        for type in ["order.17", "order.17.paid", "other.17"] {
            let event = event(1, type: type)
            #expect(
                Self.found(index, selections, event) == selections.indices.filter { selections[$0].types.match(type) })
            #expect(Self.asked(index, event) < 10)
        }
    }

    @Test(
        "asks the selections whose bound a number satisfies",
        arguments: ["data.n > #", "# <= data.n", "!(data.x == 1) && data.n >= #"])
    func bounds(pattern: String) throws {
        let selections = try (0..<1000).map { number in
            let text = pattern.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number)")
            return selection(["orders"], filter: try Filter(text))
        }
        let index = Self.index(selections)
        for (n, found) in [("-1", 0), ("2.5", 3), ("500.5", 501), ("\"500.5\"", 501), ("null", 0)] {
            let event = event(1, on: "orders", data: #"{"n":\#(n)}"#)
            #expect(Self.found(index, selections, event) == Array(0..<found))
            #expect(Self.asked(index, event) < found + 10)
        }
    }

    @Test("finds each selection with bounds once, however many of its bounds a number satisfies")
    func severalBounds() throws {
        let filters = (0..<8).map { "data.n > \($0)" } + ["data.n > 5 || data.n > 10", "data.n < 90 || data.n <= 70"]
        let selections = try filters.map { selection(["orders"], filter: try Filter($0)) }
        let index = Self.index(selections)
        let event = event(1, on: "orders", data: #"{"n":20}"#)
        #expect(Self.found(index, selections, event) == Array(selections.indices))
    }

    @Test("asks the selections that expect a list when the value is a text")
    func text() throws {
        let selections = try (0..<100).map { selection(["a"], filter: try Filter("data.tags CONTAINS 'tag\($0)'")) }
        let event = event(1, on: "a", data: #"{"tags":"tag17 and tag42"}"#)
        #expect(Self.found(Self.index(selections), selections, event) == [1, 4, 17, 42])
    }
}

/// Generates selections and events from few parts, so that they match often.
private struct Chance {
    private static let channels = ["a", "a.b", "a.b.c", "b", "a.\u{301}b", "$system"]
    private static let types = ["a", "A", "a.b", "A.b", "a.b.c", "17", "17.0"]
    private static let names = [
        "data.n", "data.n", "data.n", "data.s", "data.s", "data.list", "data.in.n", "data.list[0]",
        "data[\"e\u{301}\"]",
        "data[\"\u{e9}\"]", "meta.k", "user", "type", "channel", "custom_type", "data",
    ]
    private static let values = [
        "17", "17.0", "1.7e1", "0", "-0.0", "true", "false", "null", "9007199254740992", "9007199254740993",
        "9007199254740992.0", "100000", "1e400",
    ]
    private static let texts = [
        "17", "17.0", "+17", "a", "A", "b", "ab", "1E5", "1e5", "1e400", "", "K", "k", "\u{212A}", "e\u{301}", "\u{e9}",
        "\u{c9}", "true", "null", "9007199254740993",
    ]

    var numbers: SeededGenerator

    init(_ seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    mutating func below(_ end: Int) -> Int { numbers.below(end) }
    mutating func one(of texts: [String]) -> String { texts[below(texts.count)] }

    mutating func selection() -> Selection {
        let patterns = pick(Self.channels)
        let dialect: FilterDialect = below(8) == 0 ? .pubnub : .native
        // An expression that nests too deeply, or uses a name that the dialect does not know, gives no filter.
        let filter = below(6) == 0 ? nil : try? Filter(condition(3), dialect: dialect)
        return Selection(
            channels: ChannelSet(app: demo, patterns: patterns), types: below(3) == 0 ? pick(Self.types) : [],
            filter: filter, isOfUser: below(3) == 0)
    }

    private mutating func pick(_ names: [String]) -> [NamePattern] {
        (0...below(3)).map { _ in
            let name = one(of: names)
            return switch below(6) {
            case 0: .all
            case 1, 2: .below(name + ".")
            default: .exact(name)
            }
        }
    }

    private mutating func condition(_ depth: Int) -> String {
        guard depth > 0 else { return comparison() }
        return switch below(8) {
        case 0, 1: "\(condition(depth - 1)) && \(condition(depth - 1))"
        case 2, 3: "\(condition(depth - 1)) || \(condition(depth - 1))"
        case 4: "!(\(condition(depth - 1)))"
        case 5: "(\(condition(depth - 1)))"
        default: comparison()
        }
    }

    private mutating func comparison() -> String {
        let name = one(of: Self.names)
        return switch below(15) {
        case 0, 1, 2, 3: "\(name) == \(literal())"
        case 4: "\(literal()) == \(name)"
        case 5: "\(name) != \(literal())"
        case 6: "\(name) \(one(of: ["<", ">", "<=", ">="])) \(literal())"
        case 14: "\(literal()) \(one(of: ["<", ">", "<=", ">="])) \(name)"
        case 7, 8: "\(name) CONTAINS \(literal())"
        case 9: "(\(literal()), \(literal()), \(literal())) CONTAINS \(name)"
        case 10: "(\(literal())) CONTAINS \(name)"
        case 11: "\(name) == (\(literal()))"
        case 12: "\(name) LIKE \(text())"
        default: "\(name) == \(one(of: Self.names))"
        }
    }

    private mutating func literal() -> String {
        // 1e400 exceeds the range of numbers in an expression.
        below(2) == 0 ? text() : one(of: Self.values.dropLast())
    }

    private mutating func text() -> String { "'\(one(of: Self.texts))'" }

    mutating func event(_ timetoken: UInt64) -> Event {
        var draft = EventDraft(
            channel: ChannelID(one(of: Self.channels), in: demo), type: one(of: Self.types),
            kind: below(8) == 0 ? .action : .other, data: JSONText(trusted: Array(json().utf8)))
        if below(3) > 0 { draft.user = one(of: Self.texts) }
        if below(3) == 0 { draft.customType = one(of: Self.texts) }
        if below(3) > 0 { draft.meta = JSONText(trusted: Array(#"{"k":\#(value())}"#.utf8)) }
        if below(12) == 0 { draft.audience = .webhooks }
        if below(6) == 0 { draft.audience = below(2) == 0 ? .insiders : .rule(.user, subjects: ["a"]) }
        return Event(timetoken: Timetoken(timetoken), draft: draft)
    }

    private mutating func json() -> String {
        guard below(10) > 0 else { return value() }
        let members = ["n", "s", "list", "e\u{301}", "\u{e9}"].compactMap { name in
            below(5) > 0 ? "\"\(name)\":\(value())" : nil
        }
        return "{" + (members + ["\"in\":{\"n\":\(value())}"]).joined(separator: ",") + "}"
    }

    private mutating func value() -> String {
        switch below(9) {
        case 0: "[" + (0..<below(4)).map { _ in value() }.joined(separator: ",") + "]"
        case 1: "{}"
        case 2, 3, 4: one(of: Self.values)
        default: "\"\(one(of: Self.texts))\""
        }
    }
}
