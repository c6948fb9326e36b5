import ChatModel
import JSON
import Postgres
import PostgresSupport
import Testing

@testable import ClusterEngine

@Suite(.enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct ListingTests {
    @Test("a list is sorted by every key in both directions, and its pages are stable while rows are added")
    func sorting() async throws {
        let fixture = try await ListingFixture()
        try await fixture.fillPeople()
        for field in ["name", "age", "vip", "custom.team", "missing"] {
            for ascending in [true, false] {
                var query = RecordQuery(.user, in: fixture.app, limit: 100)
                query.sort = [(.field(field), ascending)]
                let whole = try await fixture.list(query).items.map(\.key.id)
                #expect(whole.count == 30)
                query.limit = 7
                #expect(try await fixture.listAll(query) == whole, "\(field), ascending \(ascending)")
            }
        }
        var query = RecordQuery(.user, in: fixture.app, limit: 4)
        query.sort = [(.field("custom.team"), true), (.field("age"), false), (.id, false)]
        let rows = try await fixture.listAll(query)
        #expect(rows.first == "u28" && Set(rows).count == 30)

        query.sort = [(.field("age"), false)]
        let first = try await fixture.list(query)
        #expect(first.items.map(\.key.id) == ["u29", "u28", "u27", "u26"])
        let late = RecordKey(.user, "late", in: fixture.app)
        try await fixture.write([RecordChange(late, body: fixture.json(#"{"age":99}"#))])
        query.cursor = first.cursor
        #expect(try await fixture.list(query).items.map(\.key.id) == ["u25", "u24", "u23", "u22"])
        await fixture.close()
    }

    @Test("records without a value come last in a page with an offset")
    func offset() async throws {
        let fixture = try await ListingFixture()
        try await fixture.fillPeople()
        for ascending in [true, false] {
            var query = RecordQuery(.user, in: fixture.app, limit: 30)
            query.sort = [(.field("custom.team"), ascending)]
            query.offset = 2
            let page = try await fixture.list(query)
            #expect(page.items.count == 28)
            #expect(page.items.suffix(8).allSatisfy { $0.body.description.contains(#""team":null"#) })
        }
        await fixture.close()
    }

    @Test("a page has a cursor after each record where it is requested")
    func cursors() async throws {
        let fixture = try await ListingFixture()
        try await fixture.fillPeople()
        var query = RecordQuery(.user, in: fixture.app, limit: 9)
        query.sort = [(.field("custom.team"), false), (.id, false)]
        #expect(try await fixture.list(query).cursors.isEmpty)
        query.wantsCursors = true
        let page = try await fixture.list(query)
        #expect(page.cursors.count == 9 && page.cursors.last == page.cursor)
        for (cursor, next) in zip(page.cursors, page.items.dropFirst()) {
            query.cursor = cursor
            #expect(try await fixture.list(query).items.first?.key == next.key)
        }
        await fixture.close()
    }

    @Test("a list is filtered by prefix, parent and filter, and counted on request")
    func filtering() async throws {
        let fixture = try await ListingFixture()
        try await fixture.fillPeople()
        try await fixture.write([
            RecordChange(RecordKey(.membership, "x/u4", in: fixture.app), body: .emptyObject),
            RecordChange(RecordKey(.membership, "y/u5", in: fixture.app), body: .emptyObject),
            RecordChange(RecordKey(.block, "x/u6", in: fixture.app), body: .emptyObject),
            RecordChange(RecordKey(.membership, "x/u7", in: AppID("elsewhere")), body: .emptyObject),
        ])
        func ids(
            _ filter: RecordFilter? = nil, prefix: String? = nil, parent: String? = nil
        ) async throws -> Set<String> {
            var query = RecordQuery(.user, in: fixture.app, limit: 3)
            query.filter = filter
            query.idPrefix = prefix
            query.parent = parent
            query.wantsTotal = true
            let total = try await fixture.list(query).total
            let all = try await fixture.listAll(query)
            #expect(total == all.count)
            return Set(all)
        }
        func users(_ numbers: some Sequence<Int>) -> Set<String> { Set(numbers.map { "u\($0)" }) }
        func every(_ step: Int, from first: Int = 0) -> Set<String> { users(stride(from: first, to: 30, by: step)) }
        #expect(try await ids(prefix: "u2") == users([2] + Array(20..<30)))
        #expect(try await ids(parent: "odd") == every(2, from: 1))
        #expect(try await ids(parent: "odd' OR 1=1 --").isEmpty)
        for (filter, expected) in [
            (.compare(field: "age", .greaterOrEqual, .number(20)), users(20..<30)),
            (.compare(field: "age", .less, .string("x")), []),
            (.compare(field: "name", .equal, .string("Name 7")), ["u7"]),
            (.compare(field: "name", .greater, .number(0)), []),
            (.compare(field: "name", .like, .string("nAME 1*")), users([1] + Array(10..<20))),
            (.compare(field: "name", .like, .string("Name__")), []),
            (.compare(field: "vip", .equal, .boolean(true)), every(3)),
            (.compare(field: "vip", .notEqual, .boolean(true)), every(1).subtracting(every(3))),
            (.compare(field: "custom.team", .equal, .string("red")), every(4, from: 1)),
            (.compare(field: "custom.team", .equal, .null), every(4)),
            (.compare(field: "missing", .equal, .null), every(1)),
            (.not(.compare(field: "custom.team", .equal, .string("red"))), every(1).subtracting(every(4, from: 1))),
            (.and([]), every(1)), (.or([]), []),
            (.beside(.membership, idPrefix: "x/"), ["u4"]), (.beside(.membership, idPrefix: "x' OR 1=1 --"), []),
            (.not(.beside(.membership, idPrefix: "x/")), every(1).subtracting(["u4"])),
        ] as [(RecordFilter, Set<String>)] {
            let found = try await ids(filter)
            #expect(found == expected, "\(filter)")
        }
        await fixture.close()
    }

    @Test("a body with escapes of U+0000 is listed with its bytes, and its other fields can be read")
    func zeroCharacter() async throws {
        let fixture = try await ListingFixture()
        let body = fixture.json(#"{"a\u0000":"\\u0000", "b" : "x\u0000y","c":{"d":3}}"#)
        try await fixture.write([RecordChange(RecordKey(.user, "u", in: fixture.app), body: body)])
        var query = RecordQuery(.user, in: fixture.app, limit: 3)
        query.filter = .compare(field: "c.d", .equal, .number(3))
        query.sort = [(.field("b"), true), (.field("a"), false)]
        #expect(try await fixture.list(query).items.map(\.body) == [body])
        await fixture.close()
    }
}

/// The tests of the translation that need no server.
struct ListingTranslationTests {
    private let app = AppID("app")

    @Test("an invalid cursor or filter is refused")
    func refusals() {
        var query = RecordQuery(.user, in: app, limit: 3)
        for cursor in ["", "x", "zz", "1f", "74611f74621f74631f", "6e", "é", "6e1f", "69311f", "7461001f"] {
            query.cursor = cursor
            let error = #expect(throws: ChatError.self) { try RecordListing(query) }
            #expect(error?.slug == "bad_cursor")
        }
        query.cursor = nil
        var deep = RecordFilter.compare(field: "a", .equal, .null)
        for _ in 0..<300 { deep = .not(deep) }
        for filter in ["", "a\"b", "a\0b"].map({ .compare(field: $0, .equal, .null) }) + [deep] {
            query.filter = filter
            let error = #expect(throws: ChatError.self) { try RecordListing(query) }
            #expect(error?.code == .malformed)
        }
    }

    @Test("the text of a statement does not depend on the values of a query")
    func constantText() throws {
        func texts(_ text: String, _ number: Double) throws -> [String] {
            var query = RecordQuery(.user, in: AppID(text), limit: Int(number))
            query.idPrefix = text
            query.parent = text
            query.filter = .and([
                .compare(field: text, .equal, .string(text)), .compare(field: text, .like, .string(text)),
                .compare(field: text, .less, .number(number)), .beside(.block, idPrefix: text),
                .compare(field: "user:\(text)", .greater, .string(text)),
            ])
            query.sort = [(.field(text), true), (.field("channel:\(text)"), false)]
            query.offset = Int(number)
            let listing = try RecordListing(query)
            return [listing.rows.text, listing.total.text]
        }
        let first = try texts("x", 1)
        for text in ["x' OR '1'='1", "'; DROP TABLE record; --", "%", "\\", "$1", "a.b.c"] {
            #expect(try texts(text, 2) == first)
        }
    }
}
