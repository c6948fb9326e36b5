import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("How long events stay") struct RetentionTests {
    private static func emit(_ api: APIFixture, _ type: String, _ more: String = "") async throws -> String {
        let made = await api.call(.post, "/v1/channels/a/events", #"{"type":"\#(type)","data":{}\#(more)}"#)
        #expect(made.status == 201)
        return try #require(made["id"]?.string)
    }

    private static func types(_ api: APIFixture) async -> [String] {
        let page = await api.call(.get, "/v1/channels/a/events")
        return (page["data"]?.elements ?? []).compactMap { $0["type"]?.string }
    }

    @Test("is the shorter time of the type's and the event's")
    func types() async throws {
        try await APIFixture.run { api in
            let declared = await api.call(.put, "/v1/event-types/login.seen", #"{"retention_hours":2}"#)
            #expect(declared.status == 201 && declared["retention_hours"]?.integer == 2)
            let seen = try await Self.emit(api, "login.seen")
            _ = try await Self.emit(api, "login.seen", #","ttl_hours":1"#)
            _ = try await Self.emit(api, "login.seen", #","ttl_hours":24"#)
            _ = try await Self.emit(api, "order.paid")
            #expect(await Self.types(api).count == 4)
            api.clock.advance(by: .seconds(3601))
            #expect(await Self.types(api) == ["login.seen", "login.seen", "order.paid"])
            api.clock.advance(by: .seconds(3600))
            #expect(await Self.types(api) == ["order.paid"])
            #expect(await api.call(.get, "/v1/events/\(seen)").status == 404)
            #expect(await api.call(.get, "/v1/channels/a/events/count")["count"]?.integer == 1)
        }
    }

    @Test("changes with the type for later events")
    func changedType() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.put, "/v1/event-types/a.b", #"{"retention_hours":1}"#).status == 201)
            #expect(await api.call(.put, "/v1/event-types/a.b", "{}")["retention_hours"]?.isNull == true)
            _ = try await Self.emit(api, "a.b")
            api.clock.advance(by: .seconds(7200))
            #expect(await Self.types(api) == ["a.b"])
            #expect(await api.call(.put, "/v1/event-types/a.b", #"{"retention_hours":0}"#).status == 400)
        }
    }

    @Test("is at most the app's time, for existing events as well")
    func apps() async throws {
        try await APIFixture.run { api in
            _ = try await Self.emit(api, "order.paid")
            api.clock.advance(by: .seconds(7200))
            _ = try await Self.emit(api, "order.paid")
            let changed = await api.call(.patch, "/v1/apps/default", #"{"retention_hours":1}"#)
            #expect(changed.status == 200 && changed["retention_hours"]?.integer == 1)
            #expect(await Self.types(api).count == 1)
            api.clock.advance(by: .seconds(3601))
            #expect(await Self.types(api).isEmpty)
            #expect(await api.call(.patch, "/v1/apps/default", #"{"retention_hours":null}"#).status == 200)
            _ = try await Self.emit(api, "order.paid")
            api.clock.advance(by: .seconds(1_000_000))
            // Hidden events stay hidden.
            #expect(await Self.types(api).count == 1)
        }
    }

    @Test("is decided by an app's own admins, and by operators")
    func rights() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme","retention_hours":1}"#)
            let (id, own) = (try #require(made["id"]?.string), try #require(made["admin_key"]?.string))
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, key: own)
            api.clock.advance(by: .seconds(3601))
            #expect(await api.call(.get, "/v1/channels/a/events", key: own)["data"]?.elements?.count == 0)
            #expect(
                await api.call(.patch, "/v1/apps/\(id)", #"{"retention_hours":5}"#)["retention_hours"]?.integer == 5)
            #expect(await api.call(.patch, "/v1/apps/default", #"{"retention_hours":5}"#, key: own).status == 404)
        }
    }
}
