import ChatModel
import Glibc
import JSON
import PostgresSupport
import SQLiteEngine
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct ListingDifferentialTests {
    @Test("random lists have the records, the order and the totals of the SQLite engine")
    func sameAsSQLite() async throws {
        let fixture = try await ListingFixture()
        let seed = getenv("PARLEY_TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: .min ... .max)
        let rounds = getenv("PARLEY_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 300
        var random = RandomListings(SeededGenerator(seed: seed), in: fixture.app)
        try await fixture.write(random.records())
        for round in 0..<rounds {
            var query = random.query()
            for _ in 0..<60 {
                let expected = try await fixture.engine.directory.list(query)
                let page = try await fixture.list(query)
                let isSame =
                    page.items.map(\.key.id) == expected.items.map(\.key.id)
                    && page.items.map(\.body) == expected.items.map(\.body)
                    && page.items.map(\.parent) == expected.items.map(\.parent)
                    && page.items.map(\.etag) == expected.items.map(\.etag)
                    && page.items.map(\.updated) == expected.items.map(\.updated)
                    && page.hasMore == expected.hasMore && page.total == expected.total
                    && page.cursors.count == expected.cursors.count
                try #require(
                    isSame,
                    """
                    seed \(seed), round \(round): \(query)
                    \(expected.items.map { "\($0.key.id) \($0.body)" }.joined(separator: "\n")), \(expected.total ?? -1)
                    \(page.items.map { "\($0.key.id) \($0.body)" }.joined(separator: "\n")), \(page.total ?? -1)
                    """)
                // Each engine can continue after a cursor of the other one, also inside of a page.
                let cursors = random.flip() ? expected : page
                query.cursor =
                    cursors.cursors.isEmpty ? cursors.cursor : cursors.cursors[random.below(cursors.cursors.count)]
                query.offset = nil
                if query.cursor == nil { break }
            }
        }
        await fixture.close()
    }
}

/// Random records with members of mixed types, and random queries about them.
struct RandomListings {
    private var random: SeededGenerator
    private let app: AppID

    init(_ random: SeededGenerator, in app: AppID) {
        self.random = random
        self.app = app
    }

    mutating func below(_ bound: Int) -> Int { random.below(bound) }

    mutating func flip() -> Bool { random.below(2) == 0 }

    private mutating func one<Element>(of elements: [Element]) -> Element { elements[random.below(elements.count)] }

    private static let values = [
        "null", "true", "false", "0", "-0", "-0.0", "1", "-1", "1.0", "1.5", "0.1", "0.10000000000000000001", "0.3",
        "0.30000000000000004", "1e2", "1E-3", "2.5e+1", "1e400", "-1e400", "1e-400", "9007199254740993",
        "9007199254740992.0", "9007199254740993.5", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "-9223372036854775809", "1152921504606846976.0", "1152921504606846976",
        "1152921504606846977", "17000000000000001", "17000000000000002", "1.7000000000000001e16",
        "123456789.123456789", "63.94267984578837", "100000000000000000000", "0.000001", "12345678901234567890123.5",
        #""""#, #""a""#, #""A""#, #""b""#, #""aé""#, #""é""#, #""É""#, #""\u00e9""#, #""😀""#, #""\ud83d\ude00""#,
        #""\uffff""#, #""a\u0000b""#, #""\u0000""#, #""a\\u0000b""#, #""a\\\u0000b""#, #""a\u001fb""#,
        #""a\u0001""#, #""\u001b""#, #""a\"b""#, #""\"""#, #""\\""#, #""\/""#, #""x%y""#, #""x_y""#, #""x*y""#,
        #""line\nbreak""#, #""10""#, #""2""#, #""null""#, #""true""#, #""[1]""#, #""{}""#, "[]", "{}", "[1,2]",
        "[ 1 , 2 ]", #"["a b", 1.0]"#, #"{"b":1}"#, #"{ "b" : "x \" y" }"#, #"{"b":"a\u0000b \\u0000"}"#,
        #"{"c":{"d":"e"}}"#, #"{"0":5}"#, "[[3]]",
    ]

    private static let fields = [
        "a", "a", "a", "b.c", "b.c", "b", "list", "list.0", "b.0", "0", "missing", "a.c", "é", "@id", "@updated",
        "user", "user:a", "user:a", "user:b.c", "user:@id", "user:@updated", "user:list.0", "channel:a", "channel:",
        "b..c", ".", " ", "a\\b", "$", "b.c.d", "user:é", "'; --",
    ]

    private static let texts = [
        "", "a", "A", "b", "aé", "é", "É", "x%y", "x_y", "x*y", "a\"b", "\\", "u1", "m1", "10", "a\u{1F}b", "\u{1B}",
        "a\0b", "\0", "line\nbreak", "😀", "[1]", "a\\u0000b",
    ]

    private static let patterns = [
        "", "*", "a*", "A*", "*b", "é*", "É", "x%y", "x_y", "x\\*y", "x*y", "\\", "\\\\", "*\\", "a?b", "u*", "M1*",
        "a\0b", "*\n*", "[*", "**a**", "\\a",
    ]

    private static let numbers = [
        0, -0.0, 1, -1, 1.5, 0.1, 0.3, 0.30000000000000004, 100, 9_007_199_254_740_992, 9_007_199_254_740_994,
        9.223372036854775807e18, -9.223372036854775808e18, 1.152921504606846976e18, 1.7e16, 17_000_000_000_000_002,
        63.94267984578837, 1e20, 1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 17_324_123_456_789_012,
    ]

    /// Returns users and channels, and memberships that refer to them.
    mutating func records() -> [RecordChange] {
        var changes: [RecordChange] = []
        for number in 0..<12 {
            changes.append(RecordChange(RecordKey(.user, "u\(number)", in: app), body: body(user: false)))
            changes.append(RecordChange(RecordKey(.channel, "c\(number)", in: app), body: body(user: false)))
        }
        for number in 0..<120 {
            let parent: String? = one(of: [nil, "p", "q"])
            let key = RecordKey(.membership, one(of: ["m", "M", "é", "x/"]) + "\(number)", in: app)
            changes.append(RecordChange(key, body: body(user: true), parent: parent))
        }
        for number in stride(from: 0, to: 120, by: 3) {
            changes.append(RecordChange(RecordKey(.block, "x/m\(number)", in: app), body: body(user: true)))
        }
        changes.append(RecordChange(RecordKey(.membership, "array", in: app), body: text("[1]")))
        changes.append(RecordChange(RecordKey(.membership, "number", in: app), body: text("5")))
        changes.append(RecordChange(RecordKey(.membership, "null", in: app), body: .null))
        changes.append(RecordChange(RecordKey(.membership, "string", in: app), body: text(#""a""#)))
        return changes
    }

    private func text(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

    private mutating func body(user: Bool) -> JSONText {
        var members: [String] = []
        let space = one(of: ["", "", " ", "\n\t"])
        for name in ["a", "list", "é", "0"] where random.below(5) > 0 {
            members.append("\"\(name)\":\(space)\(one(of: Self.values))")
        }
        if flip() { members.append("\"list\":[\(one(of: Self.values)),\(space)\(one(of: Self.values))]") }
        if flip() { members.append("\"b\":\(space){\(space)\"c\"\(space):\(one(of: Self.values))}") }
        if user, random.below(6) > 0 { members.append("\"user\":\"u\(random.below(14))\"") }
        if user, random.below(6) > 0 { members.append("\"channel\":\"c\(random.below(14))\"") }
        var names: Set<String> = []
        members.removeAll { !names.insert(String($0.prefix(4))).inserted }
        members.shuffle(using: &random)
        return text("{\(space)\(members.joined(separator: ",\(space)"))\(space)}")
    }

    mutating func query() -> RecordQuery {
        var query = RecordQuery(.membership, in: app, limit: one(of: [1, 3, 10, 50, 200]))
        if random.below(8) > 0 { query.filter = filter(depth: 3) }
        if random.below(6) == 0 { query.idPrefix = one(of: ["m", "m1", "é", "x/", "", "\0"]) }
        if random.below(6) == 0 { query.parent = one(of: ["p", "q", "r", "p\0"]) }
        if random.below(4) > 0 { query.sort = (0..<random.below(4)).map { _ in (sortKey(), flip()) } }
        query.wantsTotal = flip()
        query.wantsCursors = flip()
        if random.below(4) == 0 { query.offset = one(of: [0, 1, 7, 200]) }
        return query
    }

    private mutating func sortKey() -> RecordQuery.SortKey {
        switch random.below(6) {
        case 0: .id
        case 1: .updated
        default: .field(one(of: Self.fields))
        }
    }

    private mutating func filter(depth: Int) -> RecordFilter {
        switch random.below(depth > 0 ? 8 : 4) {
        case 4: return .not(filter(depth: depth - 1))
        case 5: return .and((0..<random.below(4)).map { _ in filter(depth: depth - 1) })
        case 6, 7: return .or((0..<random.below(4)).map { _ in filter(depth: depth - 1) })
        case 0 where random.below(3) == 0: return .beside(.block, idPrefix: one(of: ["x/", "y/", "x/\0"]))
        default: return compare()
        }
    }

    private mutating func compare() -> RecordFilter {
        let comparison: RecordFilter.Comparison = one(of: [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .like,
        ])
        let value: RecordFilter.Value =
            switch random.below(6) {
            case 0: .boolean(flip())
            case 1: .null
            case 2, 3: .number(one(of: Self.numbers))
            default: .string(one(of: comparison == .like ? Self.patterns : Self.texts))
            }
        return .compare(field: one(of: Self.fields), comparison, value)
    }
}
