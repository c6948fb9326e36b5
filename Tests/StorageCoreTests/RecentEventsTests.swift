import ChatModel
import JSON
import StorageCore
import TestSupport
import Testing

private let app = AppID("app")

func event(
    _ timetoken: UInt64, in channel: String = "room", of app: AppID = app, retention: Retention = .kept,
    expires: UInt64? = nil
) -> Event {
    var draft = EventDraft(
        channel: ChannelID(channel, in: app), type: "t", retention: retention, data: JSONText(string: "x"))
    draft.expires = expires.map { Timetoken($0) }
    return Event(timetoken: Timetoken(timetoken), draft: draft)
}

extension Tail {
    /// Publishes each event as a commit of its own.
    func publish(_ events: [Event]) {
        for event in events { publish(Commit(events: [event], watermark: event.timetoken)) }
    }
}

@Suite("Reading recent events from memory") struct RecentEventsTests {
    @Test("returns what a scan of all events returns, for named channels and for all channels")
    func scan() throws {
        var random = SeededGenerator()
        let tail = Tail(capacity: 8 * 1024 * 1024, start: 1000)
        let index = TailIndex(capacity: 8 * 1024 * 1024)
        var events: [Event] = []
        var last: UInt64 = 1000
        for _ in 0..<4 {
            for _ in 0..<30 {
                let commit = (0...random.below(20)).map { _ in
                    last += UInt64(1 + random.below(3))
                    let expires = random.below(9) == 0 ? last + UInt64(random.below(500)) : nil
                    return event(last, in: "c\(random.below(20))", expires: expires)
                }
                events += commit
                tail.publish(Commit(events: commit, watermark: Timetoken(last)))
            }
            for round in 0..<30 {
                let names = Set((0...random.below(4)).map { _ in "c\(random.below(22))" })
                let channels = ChannelSet(app: app, names: round % 3 == 0 ? [] : Array(names), isAll: round % 3 == 0)
                let start = try #require(events.randomElement(using: &random)).timetoken
                let limit = 1 + random.below(100)
                var found: [Timetoken] = []
                var position = start
                var hasMore = true
                while hasMore {
                    let page = try #require(
                        tail.events(in: channels, after: position, limit: limit, now: tail.watermark, index: index))
                    #expect(page.items.count <= limit)
                    found += page.items.map(\.timetoken)
                    position = page.position
                    hasMore = page.hasMore
                }
                let expected = events.filter { event in
                    event.timetoken > start && channels.contains(event.channel)
                        && event.draft.expires.map { $0 > tail.watermark } ?? true
                }
                #expect(found == expected.map(\.timetoken), "seed \(random.seed)")
                #expect(position == tail.watermark, "seed \(random.seed)")
            }
        }
    }

    @Test("returns nil for a position whose events are no longer in memory", arguments: [2, 300])
    func behind(count: UInt64) {
        let tail = Tail(capacity: 1, start: 10)
        let index = TailIndex(capacity: 1)
        tail.publish((11...10 + count).map { event($0) })
        let channels = ChannelSet(app: app, names: ["room"])
        let end = tail.watermark
        #expect(tail.events(in: channels, after: 10, limit: 10, now: end, index: index) == nil)
        let page = tail.events(in: channels, after: Timetoken(end.rawValue - 1), limit: 10, now: end, index: index)
        #expect(page?.items.map(\.timetoken) == [end])
    }

    @Test("does not return an event that was removed")
    func removed() {
        let tail = Tail(capacity: 1024 * 1024, start: 10)
        let index = TailIndex(capacity: 1024 * 1024)
        let channels = ChannelSet(app: app, names: ["room"])
        tail.publish((11...13).map { event($0) })
        tail.remove { $0.timetoken == 12 }
        #expect(tail.event(at: 12) == nil)
        #expect(tail.event(at: 13)?.timetoken == 13)
        let page = tail.events(in: channels, after: 10, limit: 10, now: 13, index: index)
        #expect(page?.items.map(\.timetoken) == [11, 13])
        #expect(page?.position == 13)
    }
}
