import ChatModel
import JSON
import Locking
import TestSupport
import Testing

extension Behaviour {
    static let directory: [Behaviour] = [
        Behaviour("of many writers that create the same record one wins; the others get the winner's record") { trial in
            let nodes = await trial.subject.nodes
            let key = RecordKey(.channel, "room", in: trial.app)
            let winners = Lock<[String]>([])
            try await concurrently(16) { number in
                let directory = nodes[number % nodes.count].directory
                let change = RecordChange(key, body: trial.json("\(number)"), precondition: .absent)
                do throws(ChatError) {
                    let record = try await directory.write([change])[0]
                    winners.withLock { $0.append(record.body.description) }
                } catch {
                    #expect(error.code == .conflict)
                    let current = try #require(error.current)
                    #expect(try await directory.read(key)?.etag == current.etag)
                }
            }
            #expect(winners.withLock { $0.count } == 1)
            #expect(try await trial.directory.read(key)?.body.description == winners.withLock { $0[0] })
        },
        Behaviour(
            "an etag matches until the record changes; a write without a change keeps it and notifies no follower"
        ) { trial in
            let key = RecordKey(.user, "ana", in: trial.app)
            let body = trial.json(#"{"name":"Ana"}"#)
            let first = try await trial.directory.write([RecordChange(key, body: body)])[0]
            let revision = try await trial.directory.revision()
            let changes = await trial.directory.changes(after: revision)
            let same = try await trial.directory.write([RecordChange(key, body: body, precondition: .etag(first.etag))]
            )[
                0]
            #expect(same.etag == first.etag && same.updated == first.updated)
            let moved = try await trial.directory.write([RecordChange(key, body: body, parent: "p")])[0]
            #expect(moved.etag != first.etag, "a parent is part of the record")
            let error = await trial.refusal(.stale) {
                _ = try await trial.directory.write([RecordChange(key, body: nil, precondition: .etag(first.etag))])
            }
            #expect(error?.current?.etag == moved.etag)
            var told = changes.makeAsyncIterator()
            let change = await told.next()
            #expect(change?.keys == [key] && change?.revision == revision + 1, "the write in between told nobody")
        },
        Behaviour("etags reveal nothing about writes to other records") { trial in
            let key = RecordKey(.user, "ana", in: trial.app)
            let neighbour = AppID("neighbour")
            var etags: [String] = []
            for turn in 0..<40 {
                for number in 0..<turn % 4 {
                    let other = RecordKey(.user, "u\(number)", in: neighbour)
                    _ = try await trial.directory.write([RecordChange(other, body: trial.json("\(turn)"))])
                }
                etags.append(try await trial.directory.write([RecordChange(key, body: trial.json("\(turn)"))])[0].etag)
            }
            #expect(etags != etags.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) })
            // Read as numbers, no two consecutive values are close to each other. By chance, that fails in less than
            // one of 10⁹ runs.
            for radix in [10, 16, 36] {
                let numbers = etags.compactMap { UInt64($0, radix: radix) }
                for (one, next) in zip(numbers, numbers.dropFirst()) {
                    #expect(max(one, next) - min(one, next) > 1 << 20, "\(etags)")
                }
            }
        },
        Behaviour("an etag is never used again for records of the same key, and outlives a restart", needsRestart: true)
        {
            trial in
            let key = RecordKey(.user, "ana", in: trial.app)
            var etags: Set<String> = []
            for _ in 0..<20 {
                etags.insert(try await trial.directory.write([RecordChange(key, body: .null)])[0].etag)
                _ = try await trial.directory.write([RecordChange(key, body: nil)])
            }
            #expect(etags.count == 20)
            let kept = try await trial.directory.write([RecordChange(key, body: .null)])[0]
            try await trial.subject.restart()
            #expect(try await trial.directory.read(key)?.etag == kept.etag)
            _ = try await trial.directory.write([RecordChange(key, body: nil, precondition: .etag(kept.etag))])
            let made = try await trial.directory.write([RecordChange(key, body: .null)])[0]
            #expect(!etags.contains(made.etag) && made.etag != kept.etag)
        },
        Behaviour("preconditions that a record exists or not are enforced, for removals too") { trial in
            let key = RecordKey(.user, "ana", in: trial.app)
            await trial.refusal(.notFound) {
                _ = try await trial.directory.write([RecordChange(key, body: .null, precondition: .present)])
            }
            await trial.refusal(.notFound) {
                _ = try await trial.directory.write([RecordChange(key, body: nil, precondition: .etag("1"))])
            }
            let made = try await trial.directory.write([RecordChange(key, body: .null, precondition: .absent)])[0]
            let removed = try await trial.directory.write([RecordChange(key, body: nil, precondition: .present)])[0]
            #expect(removed.etag == made.etag, "a removed record is returned as it was")
            #expect(try await trial.directory.read(key) == nil)
            _ = try await trial.directory.write([RecordChange(key, body: nil)])
            let again = try await trial.directory.write([RecordChange(key, body: .null, precondition: .absent)])[0]
            #expect(again.etag != made.etag, "an etag is never used again")
        },
        Behaviour("a write of several records and events is stored whole or not at all") { trial in
            let keys = (0..<3).map { RecordKey(.user, "u\($0)", in: trial.app) }
            _ = try await trial.directory.write([RecordChange(keys[2], body: trial.json("0"))])
            let changes = [
                RecordChange(keys[0], body: trial.json("1")), RecordChange(keys[1], body: trial.json("1")),
                RecordChange(keys[2], body: trial.json("1"), precondition: .absent),
            ]
            await trial.refusal(.conflict) {
                _ = try await trial.directory.write(changes, events: [trial.draft("room", "never")])
            }
            var bad = trial.draft("room", "never")
            bad.past = trial.clock.now.adding(.seconds(3600))
            await trial.refusal(.invalid) { [bad] in
                _ = try await trial.directory.write(Array(changes[..<2]), events: [bad])
            }
            #expect(try await trial.directory.read(keys).map { $0?.body.description } == [nil, nil, "0"])
            #expect(try await trial.readAll(trial.everything).isEmpty)

            let sequence = await trial.log.committed()
            let records = try await trial.directory.write(
                Array(changes[..<2]),
                events: [trial.draft("room", "both"), trial.draft("room", "too", retention: .passing)])
            #expect(records.map(\.key) == Array(keys[..<2]))
            #expect(Set(records.map(\.etag)).count == 1, "one commit, one revision")
            #expect(try await trial.readAll(trial.everything).texts == ["both", "too"])
            var told = sequence.makeAsyncIterator()
            #expect(await told.next()?.events.texts == ["both", "too"])
        },
        Behaviour("decisions about one record run one after the other, on any node") { trial in
            let nodes = await trial.subject.nodes
            let key = RecordKey(.channelCounters, "room", in: trial.app)
            try await concurrently(200) { number in
                let app = trial.app
                _ = try await nodes[number % nodes.count].directory.decide([key]) { snapshot throws(ChatError) in
                    let count = (snapshot[key].flatMap { Int($0.body.description) } ?? 0) + 1
                    let body = JSONText { $0.integer(count) }
                    let draft = EventDraft(channel: ChannelID("room", in: app), type: "counted", data: body)
                    return Decision(count, changes: [RecordChange(key, body: body)], events: [draft])
                }
            }
            #expect(try await trial.directory.read(key)?.body.description == "200")
            #expect(try await trial.readAll(trial.names("room")).texts == (1...200).map(String.init))
        },
        Behaviour("a refused decision changes nothing, and a decision may read only what it requested") { trial in
            let key = RecordKey(.user, "ana", in: trial.app)
            let other = RecordKey(.user, "ben", in: trial.app)
            _ = try await trial.directory.write([
                RecordChange(key, body: trial.json("1")), RecordChange(other, body: trial.json("2")),
            ])
            let never = trial.draft("room", "never")
            var bad = trial.draft("room", "never")
            bad.past = trial.clock.now.adding(.seconds(3600))
            await trial.refusal(.forbidden) {
                _ = try await trial.directory.decide([key]) { snapshot throws(ChatError) -> Decision<Void> in
                    #expect(snapshot[key]?.body.description == "1" && snapshot[other] == nil)
                    throw ChatError(.forbidden, "no")
                }
            }
            await trial.refusal(.invalid) { [bad] in
                _ = try await trial.directory.decide([key]) { [bad] _ in
                    Decision((), changes: [RecordChange(key, body: nil)], events: [never, bad])
                }
            }
            await trial.refusal(.stale) {
                _ = try await trial.directory.decide([]) { _ in
                    Decision((), changes: [RecordChange(key, body: nil, precondition: .etag("0"))], events: [never])
                }
            }
            #expect(try await trial.directory.read([key, other]).map { $0?.body.description } == ["1", "2"])
            #expect(try await trial.readAll(trial.everything).isEmpty)
        },
        Behaviour("a decision's records are updated at the timetoken of its first event") { trial in
            let keys = [
                RecordKey(.message, parts: ["a/b", "c"], in: trial.app), RecordKey(.user, "u", in: trial.app),
            ]
            #expect(keys[0].id == "a%2Fb/c")
            let drafts = [trial.draft("room", "first"), trial.draft("room", "second")]
            let body = trial.json("{}")
            let decided = try await trial.directory.decide(keys) { _ in
                Decision("done", changes: keys.map { RecordChange($0, body: body) }, events: drafts)
            }
            #expect(decided.value == "done" && decided.events.texts == ["first", "second"])
            #expect(decided.records.map(\.updated) == [decided.events[0].timetoken, decided.events[0].timetoken])
            #expect(try await trial.directory.read(keys).map { $0?.updated } == decided.records.map(\.updated))
        },
        Behaviour("records of another app, kind or id are never returned") { trial in
            let key = RecordKey(.user, "a", in: trial.app)
            _ = try await trial.directory.write([RecordChange(key, body: trial.json("1"))])
            for other in [
                RecordKey(.channel, "a", in: trial.app), RecordKey(.user, "b", in: trial.app),
                RecordKey(.user, "a", in: AppID("other")),
            ] {
                #expect(try await trial.directory.read(other) == nil)
            }
            #expect(try await trial.directory.list(RecordQuery(.user, in: AppID("other"), limit: 9)).items.isEmpty)
        },
        Behaviour("a list is sorted by every key in both directions, and its pages are stable while rows are added") {
            trial in
            try await trial.fillPeople()
            for field in ["name", "age", "vip", "custom.team", "missing"] {
                for ascending in [true, false] {
                    var query = RecordQuery(.user, in: trial.app, limit: 100)
                    query.sort = [(.field(field), ascending)]
                    let whole = try await trial.directory.list(query).items.map(\.key.id)
                    #expect(whole.count == 30)
                    query.limit = 7
                    #expect(try await trial.listAll(query) == whole, "\(field), ascending \(ascending)")
                }
            }
            var query = RecordQuery(.user, in: trial.app, limit: 4)
            query.sort = [(.field("custom.team"), true), (.field("age"), false), (.id, false)]
            let rows = try await trial.listAll(query)
            #expect(
                rows.first == "u28" && Set(rows).count == 30,
                "those without a team come first, the oldest of them first")

            query.sort = [(.updated, false)]
            let first = try await trial.directory.list(query)
            #expect(first.items.map(\.key.id) == ["u29", "u28", "u27", "u26"])
            trial.clock.advance(by: .seconds(1))
            _ = try await trial.directory.write(
                [RecordChange(RecordKey(.user, "late", in: trial.app), body: .emptyObject)])
            query.cursor = first.cursor
            #expect(try await trial.directory.list(query).items.map(\.key.id) == ["u25", "u24", "u23", "u22"])
        },
        Behaviour("a page has a cursor after each record where it is requested") { trial in
            try await trial.fillPeople()
            var query = RecordQuery(.user, in: trial.app, limit: 9)
            query.sort = [(.field("custom.team"), false), (.id, false)]
            #expect(try await trial.directory.list(query).cursors.isEmpty)
            query.wantsCursors = true
            let page = try await trial.directory.list(query)
            #expect(page.cursors.count == 9 && page.cursors.last == page.cursor)
            for (cursor, next) in zip(page.cursors, page.items.dropFirst()) {
                query.cursor = cursor
                #expect(try await trial.directory.list(query).items.first?.key == next.key)
            }
        },
        Behaviour("a list is filtered by prefix, parent and filter, and counted on request") { trial in
            try await trial.fillPeople()
            func ids(
                _ filter: RecordFilter? = nil, prefix: String? = nil, parent: String? = nil
            ) async throws -> Set<String> {
                var query = RecordQuery(.user, in: trial.app, limit: 3)
                query.filter = filter
                query.idPrefix = prefix
                query.parent = parent
                query.wantsTotal = true
                let total = try await trial.directory.list(query).total
                let all = try await trial.listAll(query)
                #expect(total == all.count)
                return Set(all)
            }
            func users(_ numbers: some Sequence<Int>) -> Set<String> { Set(numbers.map { "u\($0)" }) }
            func every(_ step: Int, from first: Int = 0) -> Set<String> { users(stride(from: first, to: 30, by: step)) }
            #expect(try await ids(prefix: "u2") == users([2] + Array(20..<30)))
            #expect(try await ids(parent: "odd") == every(2, from: 1))
            #expect(try await ids(parent: "odd' OR 1=1 --").isEmpty)
            _ = try await trial.directory.write([
                RecordChange(RecordKey(.membership, "x/u4", in: trial.app), body: .emptyObject),
                RecordChange(RecordKey(.membership, "y/u5", in: trial.app), body: .emptyObject),
                RecordChange(RecordKey(.block, "x/u6", in: trial.app), body: .emptyObject),
                RecordChange(RecordKey(.membership, "x/u7", in: AppID("elsewhere")), body: .emptyObject),
            ])
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
                (
                    .and([
                        .compare(field: "age", .less, .number(10)),
                        .or([.compare(field: "age", .equal, .number(3)), .compare(field: "age", .equal, .number(12))]),
                    ]), ["u3"]
                ),
                (.and([]), every(1)), (.or([]), []),
                (.beside(.membership, idPrefix: "x/"), ["u4"]), (.beside(.membership, idPrefix: "x' OR 1=1 --"), []),
                (.not(.beside(.membership, idPrefix: "x/")), every(1).subtracting(["u4"])),
            ] as [(RecordFilter, Set<String>)] {
                let found = try await ids(filter)
                #expect(found == expected, "\(filter)")
            }
        },
        Behaviour("an invalid cursor or filter is refused, and a filter's text never becomes SQL") { trial in
            try await trial.fillPeople()
            var query = RecordQuery(.user, in: trial.app, limit: 3)
            for cursor in ["", "x", "zz", "1f", "74611f74621f74631f", "6e", "é"] {
                query.cursor = cursor
                await trial.refusal(.malformed) { _ = try await trial.directory.list(query) }
            }
            query.cursor = nil
            for field in ["", "a\"b", "a\0b"] {
                query.filter = .compare(field: field, .equal, .null)
                await trial.refusal(.malformed) { _ = try await trial.directory.list(query) }
            }
            var deep = RecordFilter.compare(field: "a", .equal, .null)
            for _ in 0..<300 { deep = .not(deep) }
            query.filter = deep
            await trial.refusal(.malformed) { _ = try await trial.directory.list(query) }
            for text in ["x' OR '1'='1", "'; DROP TABLE record; --", "%", "\\"] {
                query.filter = .or([
                    .compare(field: "name", .equal, .string(text)), .compare(field: "name", .like, .string(text)),
                    .compare(field: text, .equal, .string("Name 1")),
                ])
                #expect(try await trial.directory.list(query).items.isEmpty)
            }
        },
        Behaviour("no committed change is skipped while 8 tasks write, and each is read at once on its own node") {
            trial in
            let nodes = await trial.subject.nodes
            let directory = await trial.otherNode.directory
            let sequence = await directory.changes(after: try await directory.revision())
            try await concurrently(8) { task in
                let directory = nodes[task % nodes.count].directory
                for number in 0..<50 {
                    let key = RecordKey(.membership, "u\(task)/c\(number)", in: trial.app)
                    let record = try await directory.write([RecordChange(key, body: trial.json("\(number)"))])[0]
                    #expect(try await directory.read(key)?.etag == record.etag)
                }
            }
            var told: Set<RecordKey> = []
            var revision: Revision = 0
            for await changes in sequence {
                #expect(changes.revision > revision)
                revision = changes.revision
                told.formUnion(changes.keys)
                if told.count == 400 { break }
            }
            #expect(told.count == 400)
            for key in told { #expect(try await directory.read(key) != nil) }
        },
        Behaviour("changes and removals can be read after a restart, from any revision", needsRestart: true) { trial in
            var revisions: [Revision] = []
            for number in 0..<5 {
                let key = RecordKey(.user, "u\(number)", in: trial.app)
                _ = try await trial.directory.write([RecordChange(key, body: .null)])
                revisions.append(try await trial.directory.revision())
            }
            let removed = RecordKey(.user, "u1", in: trial.app)
            _ = try await trial.directory.write([RecordChange(removed, body: nil)])
            try await trial.subject.restart()
            let newest = try await trial.directory.revision()
            for (index, revision) in revisions.enumerated() {
                var told: Set<String> = []
                for await changes in await trial.directory.changes(after: revision) {
                    told.formUnion(changes.keys.map(\.id))
                    if changes.revision >= newest { break }
                }
                let expected = Set((0..<5).filter { $0 > index }.map { "u\($0)" } + ["u1"])
                #expect(told == expected)
            }
        },
        Behaviour("a follower of the directory is woken, and its sequence ends when the engine closes") { trial in
            let sequence = await trial.directory.changes(after: try await trial.directory.revision())
            let follower = Task {
                var ids: [String] = []
                for await changes in sequence { ids += changes.keys.map(\.id) }
                return ids
            }
            for id in ["a", "b"] {
                _ = try await trial.directory.write([RecordChange(RecordKey(.user, id, in: trial.app), body: .null)])
            }
            await trial.node.close()
            #expect(await follower.value == ["a", "b"])
        },
    ]
}

extension Trial {
    /// Writes thirty users, u0 … u29, one second apart.
    fileprivate func fillPeople() async throws {
        for number in 0..<30 {
            let team = ["null", #""red""#, #""blue""#, #""green""#][number % 4]
            let body =
                #"{"name":"Name \#(number)","age":\#(number),"vip":\#(number % 3 == 0),"custom":{"team":\#(team)}}"#
            let change = RecordChange(
                RecordKey(.user, "u\(number)", in: app), body: json(body), parent: number % 2 == 0 ? "even" : "odd")
            _ = try await directory.write([change])
            clock.advance(by: .seconds(1))
        }
    }

    /// Returns the ids of all pages.
    fileprivate func listAll(_ query: RecordQuery) async throws -> [String] {
        var query = query
        var ids: [String] = []
        while true {
            let page = try await directory.list(query)
            #expect(page.items.count <= query.limit)
            #expect(page.hasMore == (page.cursor != nil))
            ids += page.items.map(\.key.id)
            guard let cursor = page.cursor else { return ids }
            query.cursor = cursor
        }
    }
}
