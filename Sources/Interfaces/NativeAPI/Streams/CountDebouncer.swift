import ChatCore
import ChatModel
import JSON

/// Limits the events about counts (`channel.member_count.updated`, `channel.participant_count.updated`) on a device's
/// stream to one event per type and second. Each event contains the latest count of every channel whose count has
/// changed.
struct CountDebouncer {
    private struct Held {
        var newest: Event
        /// The objects included with the event `newest`; nil when its feed includes none.
        var included: RenderedIncludes?
        /// The channels in the held-back events, each with its newest count as a JSON object. The channels are in the
        /// order in which these counts arrived.
        var channels: [(name: ExactText, text: JSONText)] = []

        mutating func receive(_ event: Event, _ included: RenderedIncludes?) {
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

    /// For each type, the second in which an event was last sent.
    private var reported: [String: UInt64] = [:]
    /// For each type, the counts that are held back until the next second.
    private var held: [String: Held] = [:]

    var isEmpty: Bool { held.isEmpty }

    static func concerns(_ event: Event) -> Bool {
        event.type == "channel.member_count.updated" || event.type == "channel.participant_count.updated"
    }

    /// Holds an event back if an event of its type was already sent in this second. Returns false when the event is to
    /// be sent now.
    ///
    /// - Parameters:
    ///   - included: the objects included with the event, if its feed includes any.
    ///   - tick: the current second of the feed's timer.
    mutating func hold(_ event: Event, with included: RenderedIncludes? = nil, at tick: UInt64) -> Bool {
        if reported[event.type] != tick, held[event.type] == nil {
            reported[event.type] = tick
            return false
        }
        held[event.type, default: Held(newest: event)].receive(event, included)
        return true
    }

    /// Removes and returns the held events whose type was not sent in this second, in the order of their timetokens.
    mutating func release(at tick: UInt64) -> [(event: Event, included: RenderedIncludes?)] {
        release(held.filter { reported[$0.key] != tick }, at: tick)
    }

    /// Removes and returns all held events, in the order of their timetokens.
    mutating func releaseAll(at tick: UInt64) -> [(event: Event, included: RenderedIncludes?)] {
        release(held, at: tick)
    }

    private mutating func release(
        _ due: [String: Held], at tick: UInt64
    ) -> [(event: Event, included: RenderedIncludes?)] {
        for type in due.keys {
            held[type] = nil
            reported[type] = tick
        }
        return due.values.map { (event: $0.event, included: $0.included) }
            .sorted { $0.event.timetoken < $1.event.timetoken }
    }
}
