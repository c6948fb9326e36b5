import ChatKit
import JSON
import JSONSchema
import TestSupport
import Testing

import enum ChatCore.BuiltInCatalogue

@Suite("The table of events", .timeLimit(.minutes(5))) struct EventTableTests {
    /// Types that no call of the library causes, with the reason.
    private static let exempt = [
        "webhook.": "what the gateway reports of itself on `$system`", "source.": "likewise", "schema.": "likewise",
        "key.": "likewise", "stream.": "likewise", "system.": "likewise",
        "channel.events_deleted": "takes an administrator who deletes a range of events",
        "channel.activity": "is told to who names it alone, a second after the message",
        "connection.failed": "takes a device that stays away for two minutes",
        "connection.canceled": "takes an administrator who ends a device's session",
    ]

    @Test("has a row for every type of the catalogue")
    func complete() {
        let rows = Set(EventRow.all.map(\.type))
        for type in BuiltInCatalogue.all.map(\.name) {
            let isExempt = Self.exempt.keys.contains { type == $0 || $0.hasSuffix(".") && type.hasPrefix($0) }
            #expect(rows.contains(type) != isExempt, "\(type)")
        }
        for type in rows { #expect(BuiltInCatalogue.named(type) != nil, "\(type)") }
    }

    @Test(
        "matches the events: their receivers and webhooks, their schemas, and whether they are kept",
        arguments: EventRow.all,
        MatchStrategy.allCases)
    func row(row: EventRow, way: MatchStrategy) async throws {
        guard row.ways.contains(way) else { return }
        try await Stage.play(way) { stage in
            try await row.before(stage)
            let phone = try #require(stage.backends[.phone])
            let hook = try await stage.webhook(for: row.type)
            let everything = await Listening.all(of: phone)
            var ears: [Ear: Listening] = [:]
            for (ear, backend) in stage.backends { ears[ear] = await Listening.device(of: backend) }
            try await row.cause(stage)
            let event = try #require(await everything.first(row.isAbout), "it did not happen")
            for ear in row.hears { _ = try #require(await ears[ear]?.first(row.isAbout), "\(ear) is to hear it") }
            try await stage.fence()
            for (ear, listening) in ears where !row.hears.contains(ear) {
                #expect(await !listening.hears(row.isAbout), "\(ear) is not to hear it")
            }
            let type = try #require(BuiltInCatalogue.named(row.type))
            let faults = try Schema(JSONDocument(Array(type.schema.utf8))).report(on: JSONDocument(event.data).root)
            #expect(faults.violations.isEmpty, "\(event.data)")
            if let hook {
                let told = await hook.requests.wait { $0.contains { $0.isAbout(event) } }
                #expect(told.contains { $0.isAbout(event) }, "a webhook is to be told")
            }
            var query = EventQuery(channel: event.channel.name)
            query.types = [row.type]
            let isKept = try await !phone.history(query).items.isEmpty
            #expect(isKept == (type.retention == .kept))
        }
    }
}

extension ReceivedRequest {
    fileprivate func isAbout(_ event: Event) -> Bool {
        AnyJSON(JSONText(trusted: body))["timetoken"]?.string == event.timetoken.description
    }
}
