import ChatCore
import ChatModel
import JSON

/// Numbers that change often (`channel.member_count.updated`, `channel.participant_count.updated`), told a device's stream
/// once a second at most: of each channel the latest.
struct CountDebouncer {
    private struct Held {
        var newest: Event
        /// The objects beside it.
        var included: RenderedIncludes?
        /// What the event says of each channel, in the order in which they were heard of.
        var channels: [(name: ExactText, text: JSONText)] = []

        mutating func take(_ event: Event, _ included: RenderedIncludes?) {
            newest = event
            self.included = included
            for text in event.data.rawMember("channels")?.rawElements() ?? [] {
                guard let name = try? JSONDocument(text).root["id"]?.string else { continue }
                channels.removeAll { $0.name == ExactText(name) }
                channels.append((ExactText(name), text))
            }
        }

        var event: Event {
            var draft = newest.draft
            draft.data = JSONText { writer in
                writer.beginObject()
                writer.key("channels")
                writer.beginArray()
                for channel in channels { writer.raw(channel.text) }
                writer.endArray()
                writer.endObject()
            }
            return Event(timetoken: newest.timetoken, draft: draft)
        }
    }

    /// When the numbers of a type were last told, in beats, and what has come since.
    private var told: [String: UInt64] = [:]
    private var held: [String: Held] = [:]

    var isEmpty: Bool { held.isEmpty }

    static func concerns(_ event: Event) -> Bool {
        event.type == "channel.member_count.updated" || event.type == "channel.participant_count.updated"
    }

    /// False when the event may be told now: it is the first of its type in this beat.
    ///
    /// - Parameter included: the objects beside the event, where its feed gets some.
    mutating func hold(_ event: Event, with included: RenderedIncludes? = nil, at beat: UInt64) -> Bool {
        if told[event.type] != beat, held[event.type] == nil {
            told[event.type] = beat
            return false
        }
        held[event.type, default: Held(newest: event)].take(event, included)
        return true
    }

    /// What has been held, to be told in this beat; in the order of the log.
    mutating func release(at beat: UInt64) -> [(event: Event, included: RenderedIncludes?)] {
        release(held.filter { told[$0.key] != beat }, at: beat)
    }

    /// The same of everything, also of what has been told in this beat.
    mutating func releaseAll(at beat: UInt64) -> [(event: Event, included: RenderedIncludes?)] {
        release(held, at: beat)
    }

    private mutating func release(
        _ due: [String: Held], at beat: UInt64
    ) -> [(event: Event, included: RenderedIncludes?)] {
        for type in due.keys {
            held[type] = nil
            told[type] = beat
        }
        return due.values.map { (event: $0.event, included: $0.included) }
            .sorted { $0.event.timetoken < $1.event.timetoken }
    }
}
