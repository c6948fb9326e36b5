/// A table of a store in the form in which its content moves to an engine of another kind.
///
/// Together, the tables have everything that a store keeps after a restart. The tables refer to each other by the
/// numbers of channels and subscribers, which do not change. Each engine translates between these tables and its own.
package enum ContentTable: String, CaseIterable, Sendable {
    case app, channel, event, loss, seen, claim, record, removed, cursor, subscriber, delivery
    case attempts = "attempt_log"

    /// The rows in the words of the documentation.
    package var title: String {
        switch self {
        case .app: "apps"
        case .channel: "channels"
        case .event: "events"
        case .loss: "losses"
        case .seen: "deduplication keys"
        case .claim: "idempotency keys"
        case .record: "records"
        case .removed: "removed records"
        case .cursor: "cursors"
        case .subscriber: "subscribers"
        case .delivery: "deliveries"
        case .attempts: "attempt logs"
        }
    }

    /// The columns, in the order of ``ContentRows/columns``. Timetokens are integers.
    package var columns: [ContentColumn] {
        switch self {
        // retention: in ticks. floor: the newest lost event. swept: retention has examined the events up to here.
        case .app: [.text("name"), .integer("retention"), .integer("floor"), .integer("swept")]
        case .channel: [.integer("id"), .text("app"), .text("name")]
        case .event:
            [
                .integer("tt"), .integer("ch"), .integer("kind"), .text("type"), .text("sender"), .bytes("body"),
                .bytes("meta"), .integer("expires"), .text("custom_type"), .text("schema_type"),
                .integer("schema_version"), .text("cause"), .text("audience"), .text("origin"), .bytes("wire"),
                .text("trace"), .boolean("by_type"), .integer("thread"),
            ]
        case .loss: [.integer("ch"), .text("type"), .text("app"), .integer("tt")]
        case .seen: [.integer("ch"), .text("key"), .integer("tt"), .integer("until")]
        case .claim:
            [
                .text("app"), .bytes("key"), .bytes("print"), .timetokens("tts"), .bytes("note"), .integer("until"),
            ]
        case .record:
            [
                .text("app"), .integer("kind"), .text("id"), .text("parent"), .integer("revision"),
                .integer("updated"), .text("body"), .integer("tag"),
            ]
        case .removed: [.integer("revision"), .text("app"), .integer("kind"), .text("id"), .integer("at")]
        case .cursor: [.text("name"), .integer("tt")]
        // waiting: the number of waiting deliveries.
        case .subscriber:
            [
                .integer("id"), .text("app"), .text("name"), .integer("state"), .integer("concurrency"),
                .integer("ordering"), .double("rate"), .integer("batch"), .boolean("pulled"), .integer("attempts"),
                .integer("reordering"), .integer("waiting"),
            ]
        case .delivery:
            [
                .integer("tt"), .integer("ep"), .text("id"), .text("type"), .text("channel"), .integer("state"),
                .integer("due"), .integer("tries"), .boolean("manual"), .integer("created"), .integer("touched"),
                .text("reason"), .bytes("body"), .integer("chain"),
            ]
        // bytes: an `AttemptLog`.
        case .attempts: [.integer("tt"), .integer("ep"), .bytes("bytes")]
        }
    }
}

/// A column of a ``ContentTable``.
package struct ContentColumn: Sendable {
    package enum Kind: Sendable {
        case integer, double, text, bytes
        /// An integer, 0 or 1.
        case boolean
        /// A text: the timetokens in braces, separated by commas.
        case timetokens
    }

    package let name: String
    package let kind: Kind

    static func integer(_ name: String) -> Self { Self(name: name, kind: .integer) }
    static func double(_ name: String) -> Self { Self(name: name, kind: .double) }
    static func text(_ name: String) -> Self { Self(name: name, kind: .text) }
    static func bytes(_ name: String) -> Self { Self(name: name, kind: .bytes) }
    static func boolean(_ name: String) -> Self { Self(name: name, kind: .boolean) }
    static func timetokens(_ name: String) -> Self { Self(name: name, kind: .timetokens) }
}
