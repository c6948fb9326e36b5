import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("The session of a device", .timeLimit(.minutes(2))) struct DeviceSessionTests {
    /// The next `count` session states that another device of the user receives.
    private func states(_ reader: EventStreamReader, _ count: Int) async -> [EventStreamParser.Event] {
        var events: [EventStreamParser.Event] = []
        while events.count < count, let event = await reader.next() {
            if event.type.hasPrefix("connection.") { events.append(event) }
        }
        return events
    }

    @Test(
        "is reported to the user's other devices from start to end, and continues when the device returns in time"
    )
    func life() async throws {
        try await StreamHarness.run { gateway in
            let (watcher, _, _) = try await gateway.openReady("user=ana")
            let phone = try await gateway.open("user=ana&device=phone")
            let id = try #require(await phone.next()?["session"])
            let opened = await states(watcher, 1)
            #expect(opened.map(\.type) == ["connection.opened"])
            phone.close()
            #expect(await states(watcher, 1).map(\.type) == ["connection.reconnecting"])
            gateway.clock.advance(by: .seconds(60))
            await gateway.tick()
            let back = try await gateway.open("user=ana&device=phone")
            #expect(await back.next()?["session"] == id)
            let resumed = await states(watcher, 1)
            #expect(resumed.map(\.type) == ["connection.reconnected"])
            #expect(resumed[0].json?["data"]?["attempt"]?.integer == 1)
            back.close()
            #expect(await states(watcher, 1).map(\.type) == ["connection.reconnecting"])
            gateway.clock.advance(by: .seconds(120))
            await gateway.tick()
            #expect(await states(watcher, 1).map(\.type) == ["connection.failed"])
            for event in opened + resumed {
                let data = try #require(event.json?["data"])
                #expect(data["session_id"]?.string == id)
                #expect(data["device_id"]?.string == "phone")
            }
        }
    }

    @Test("is one for all streams of its device")
    func severalStreams() async throws {
        try await StreamHarness.run { gateway in
            let first = try await gateway.open("user=ana&device=phone")
            let second = try await gateway.open("user=ana&device=phone")
            let id = try #require(await first.next()?["session"])
            #expect(await second.next()?["session"] == id)
            first.close()
            await gateway.until { $0.roll.count == 1 }
            let listed = try await gateway.call("GET", "/v1/users/ana/sessions").json?["data"]?[0]
            #expect(listed?["id"]?.string == id)
            #expect(listed?["state"]?.string == "open")
            #expect(listed?["streams"]?.integer == 1)
        }
    }

    @Test("ends for good with its streams when it is deleted")
    func canceled() async throws {
        try await StreamHarness.run { gateway in
            let (watcher, _, _) = try await gateway.openReady("user=ana")
            let phone = try await gateway.open("user=ana&device=phone")
            let id = try #require(await phone.next()?["session"])
            #expect(try await gateway.call("DELETE", "/v1/users/ben/sessions/\(id)").status == 404)
            #expect(try await gateway.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 204)
            #expect(await states(watcher, 2).map(\.type) == ["connection.opened", "connection.canceled"])
            #expect(await phone.rest().last?.type == "stream.closing")
            #expect(try await gateway.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 404)
        }
    }

    @Test("has events that match the catalogue")
    func catalogue() async throws {
        try await StreamHarness.run { gateway in
            let (watcher, _, _) = try await gateway.openReady("user=ana")
            let phone = try await gateway.open("user=ana&device=phone")
            _ = await phone.next()
            phone.close()
            for event in await states(watcher, 2) {
                let data = try #require(JSONText(trusted: Array(event.data.utf8)).rawMember("data"))
                let answer = try await gateway.call(
                    "POST", "/v1/event-types/\(event.type)/validate", #"{"data":\#(data)}"#)
                #expect(answer.json?["valid"]?.boolean == true, "\(event.type): \(answer.json?["valid"] as Any)")
            }
        }
    }
}
