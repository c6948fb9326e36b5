import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("Lists of records") struct RecordListTests {
    private func list(_ filter: String? = nil, sort: [String] = [], limit: Int = 50) -> RecordList {
        var list = RecordList(limit: limit)
        list.filter = filter
        list.sort = sort
        return list
    }

    /// Users: Ana on floor 1, Andy on floor 2, Ben on floor 3 and away.
    private func withUsers(_ body: @Sendable (ChatAccess) async throws -> Void) async throws {
        try await withChat { chat in
            for (index, name) in ["Ana", "Andy", "Ben"].enumerated() {
                var edit = UserEdit()
                edit.name = .set(name)
                edit.custom = .set(json(#"{"floor":\#(index + 1),"label":"50% *"}"#))
                edit.status = name == "Ben" ? .set("away") : .keep
                _ = try await chat.put(user: name.lowercased(), edit)
            }
            try await body(chat)
        }
    }

    @Test(
        "are narrowed by conditions over fields",
        arguments: [
            ("name LIKE 'an*'", "ana andy"), ("name == 'Ana'", "ana"), ("name == 'ana'", ""),
            ("name != 'Ana'", "andy ben"), ("custom.floor > 1", "andy ben"),
            ("custom.floor >= 1 && custom.floor < 3", "ana andy"), ("custom.floor > -1", "ana andy ben"),
            ("status == null", "ana andy"), ("status != null", "ben"),
            ("!(status == 'away') and name like '*Y'", "andy"), ("name == 'Ana' || name == 'Ben'", "ana ben"),
            ("auto_accepts_invites == true", ""), ("custom.label LIKE '*\\*'", "ana andy ben"),
            ("custom.label LIKE '5_*'", ""), ("('Ana', 'Ben') CONTAINS name", "ana ben"),
            ("name CONTAINS 'N'", "ana andy ben"),
            ("custom.floor * 2 == 4", "andy"), ("id != 'ana'", "andy ben"), ("custom.none != 1", ""), ("status", "ben"),
            ("created_at > '2000-01-01T00:00:00Z' && updated_at < '2900-01-01T00:00:00+01:00'", "ana andy ben"),
            ("updated_at > '2900-01-01T00:00:00Z'", ""),
        ])
    func filters(_ filter: String, _ expected: String) async throws {
        try await withUsers { chat in
            let found = try await chat.users(list(filter)).items.map(\.id)
            #expect(found.joined(separator: " ") == expected)
        }
    }

    @Test(
        "refuse conditions that cannot be read, with the column",
        arguments: [
            ("", 1), ("name ==", 8), ("name == other", 9), ("nme == 'x'", 1), ("name == 'x' &&", 15),
            ("(name == 'x'", 1), ("name == 'x' name", 13), ("custom. == 1", 9), ("metadata_x.y == 1", 1),
            ("name = 'x'", 6),
        ])
    func unreadable(_ filter: String, _ column: Int) async throws {
        try await withChat { chat in
            let error = try await refusal { _ = try await chat.users(list(filter)) }
            #expect(error.slug == "bad_filter")
            #expect(error.message.hasSuffix("at column \(column)"), "\(error.message)")
        }
    }

    @Test("refuse conditions that are nested too deeply or too long")
    func deep() async throws {
        try await withChat { chat in
            let deep = String(repeating: "(", count: 1000) + "name == 'x'" + String(repeating: ")", count: 1000)
            try await expect(slug: "bad_filter") { _ = try await chat.users(list(deep)) }
            let nots = String(repeating: "!", count: 1000) + "(name == 'x')"
            try await expect(slug: "bad_filter") { _ = try await chat.users(list(nots)) }
            let long = "name == '" + String(repeating: "x", count: chat.limits.filterBytes) + "'"
            try await expect(slug: "bad_filter") { _ = try await chat.users(list(long)) }
        }
    }

    @Test("are sorted by fields, walked in pages and counted on request")
    func pages() async throws {
        try await withUsers { chat in
            let sorted = try await chat.users(list(sort: ["status:desc", "name:desc"])).items
            #expect(sorted.map(\.id) == ["ben", "andy", "ana"])
            #expect(try await chat.users(list(sort: ["id:desc"])).items.map(\.id) == ["ben", "andy", "ana"])
            #expect(try await chat.users(list(sort: ["updated_at:desc"])).items.map(\.id) == ["ben", "andy", "ana"])
            var walk = list(sort: ["name:desc"], limit: 2)
            walk.wantsTotal = true
            let first = try await chat.users(walk)
            #expect(first.items.map(\.id) == ["ben", "andy"])
            #expect(first.total == 3)
            walk.cursor = first.cursor
            let second = try await chat.users(walk)
            #expect(second.items.map(\.id) == ["ana"])
            #expect(!second.hasMore)
            for bad in ["custom.floor", "name:up", "name:asc:x", "nme", ""] {
                try await expect(slug: "bad_sort") { _ = try await chat.users(list(sort: [bad])) }
            }
        }
    }

    @Test("are bounded by creation time, and counted within it")
    func times() async throws {
        try await withUsers { chat in
            let all = try await chat.users(list()).items
            var narrow = list()
            narrow.after = all[0].created
            narrow.order = .descending
            narrow.wantsTotal = true
            let later = try await chat.users(narrow)
            #expect(later.items.map(\.id) == ["ben", "andy"] && later.total == 2)
            narrow.before = all[2].created
            #expect(try await chat.users(narrow).items.map(\.id) == ["andy"])
        }
    }

    @Test("end a page after ten thousand records, and continue after them")
    func bounded() async throws {
        let count = 25_000
        let read: @Sendable (String?, Int) async throws(ChatError) -> Page<Int?> = {
            cursor, limit async throws(ChatError) in
            let start = cursor.flatMap { Int($0) } ?? 0
            let end = min(start + limit, count)
            var page = Page<Int?>(
                items: (start..<end).map { Optional($0) }, hasMore: end < count, cursor: end < count ? "\(end)" : nil)
            page.cursors = (start..<end).map { "\($0 + 1)" }
            return page
        }
        let first = try await RecordList.page(limit: 2, from: nil, read) { $0 % 12_000 == 11_999 }
        #expect(first.items.isEmpty && first.hasMore && first.cursor == "10000")
        let second = try await RecordList.page(limit: 1, from: first.cursor, read) { $0 % 12_000 == 11_999 }
        #expect(second.items == [11_999] && second.hasMore && second.cursor == "12000")
        let last = try await RecordList.page(limit: 2, from: "16000", read) { $0 % 12_000 == 11_999 }
        #expect(last.items == [23_999] && !last.hasMore && last.cursor == nil)
    }

    @Test("of channels and members show only what the caller reaches")
    func reach() async throws {
        try await withChat { chat in
            for channel in ["crew", "team.a", "team.b"] { try await chat.makeChannel(channel, users: ["ben"]) }
            var all = list()
            all.wantsTotal = true
            #expect(try await chat.channels(all).total == 3)
            let patterns = [try #require(NamePattern("team.*"))]
            let narrow = chat.service.chat(
                for: Caller(app: chat.app, credential: "key_x", scopes: [.read], channels: patterns))
            let page = try await narrow.channels(all)
            #expect(page.items.map(\.channel.id) == ["team.a", "team.b"])
            #expect(page.items.map(\.counts.all) == [2, 2])
            #expect(page.total == nil)
            #expect(try await narrow.memberships(of: "ben", all).items.map(\.channel) == ["team.a", "team.b"])
            try await expect(.forbidden) { _ = try await narrow.members(of: "crew", all) }
            let invited = try await chat.members(of: "crew", list("state == 'invited'"))
            #expect(invited.items.map(\.user) == ["ben"])
            #expect(try await chat.members(of: "crew", list(sort: ["user:desc"])).items.map(\.user) == ["ben", "ana"])
            #expect(try await chat.memberships(of: "ben", list("channel LIKE 'team*'")).items.count == 2)
        }
    }
}
