import ChatModel
import ChatSupport
import HTTPServer
import JSON
import Testing
import TestSupport

@testable import ChatCore

@Suite("The last use of keys", .timeLimit(.minutes(2))) struct KeyUseTests {
    private func keys(_ api: APIFixture, _ query: String) async -> [String] {
        let answer = await api.call(.get, "/v1/keys?\(query)")
        #expect(answer.status == 200, "\(answer.text)")
        return answer["data"]?.elements?.compactMap { $0["name"]?.string } ?? []
    }

    private func lastUse(_ api: APIFixture, _ id: String) async -> String? {
        await api.call(.get, "/v1/keys/\(id)")["last_used_at"]?.string
    }

    @Test("is shown, to a minute, and selects keys")
    func shown() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/keys", #"{"name":"idle","scopes":["read"]}"#)
            #expect(made["last_used_at"]?.isNull == true)
            let used = await api.call(.post, "/v1/keys", #"{"name":"used","scopes":["read"]}"#)
            let (id, text) = (try #require(used["id"]?.string), try #require(used["key"]?.string))
            api.clock.advance(by: .seconds(3600))
            let moment = api.clock.now
            #expect(await api.call(.get, "/v1/users", key: text).status == 200)
            let first = try #require(await lastUse(api, id))
            #expect(first >= moment.timestamp)
            #expect(await api.call(.get, "/v1/users", key: text).status == 200)
            #expect(await lastUse(api, id) == first)
            #expect(await keys(api, "last_used_before=\(moment)").contains("idle"))
            #expect(!(await keys(api, "last_used_before=\(moment)").contains("used")))
            #expect(await keys(api, "last_used_after=\(moment)").contains("used"))
            #expect(!(await keys(api, "last_used_after=\(moment)").contains("idle")))
            api.clock.advance(by: .seconds(61))
            #expect(await api.call(.get, "/v1/users", key: text).status == 200)
            let second = try #require(await lastUse(api, id))
            #expect(second > first)
        }
    }

    @Test("is a use of its tokens too, and is there after a restart")
    func kept() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/keys", #"{"name":"maker","scopes":["read","emit","manage"]}"#)
            let (id, text) = (try #require(made["id"]?.string), try #require(made["key"]?.string))
            let token = await api.call(.post, "/v1/tokens", #"{"user":"eve","expires_in_seconds":7200}"#, key: text)
            let bearer = try #require(token["token"]?.string, "\(token.text)")
            api.clock.advance(by: .seconds(3600))
            let moment = api.clock.now.timestamp
            #expect(await api.call(.get, "/v1/users", key: bearer).status == 200)
            let used = try #require(await lastUse(api, id))
            #expect(used >= moment)

            let keyring = api.service.keyring
            await keyring.writeUses()
            let other = Keyring(
                directory: keyring.directory, clock: keyring.clock, vault: keyring.vault, limits: Limits())
            _ = try await other.load()
            let key = try #require(other.key(id, in: AppID("default")))
            #expect(other.lastUse(of: key)?.timestamp == used)
        }
    }
}
