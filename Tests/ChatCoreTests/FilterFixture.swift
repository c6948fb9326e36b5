import ChatCore
import ChatModel
import JSON
import Testing

/// An event to try filters on.
func sampleEvent(
    type: String = "order.paid", kind: EventKind = .other, channel: String = "orders.eu", user: String? = "ana",
    data: String = "{}", meta: String? = nil, customType: String? = nil, wire: String? = nil
) -> Event {
    var draft = EventDraft(
        channel: ChannelID(channel, in: AppID("demo")), type: type, kind: kind,
        data: JSONText(trusted: Array(data.utf8)), user: user, meta: meta.map { JSONText(trusted: Array($0.utf8)) })
    draft.customType = customType
    draft.wire = wire.map { JSONText(trusted: Array($0.utf8)) }
    return Event(timetoken: 17_324_123_456_789_012, draft: draft)
}

/// One row of a table: an expression, and whether it selects the table's event.
struct FilterCase: Sendable, CustomTestStringConvertible {
    let text: String
    let selects: Bool

    init(_ text: String, _ selects: Bool) {
        self.text = text
        self.selects = selects
    }

    var testDescription: String { "\(text) is \(selects)" }
}
