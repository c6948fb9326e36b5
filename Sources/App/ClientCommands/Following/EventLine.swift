import JSON

/// An event on one line, for people: time, channel, type, user, data.
enum EventLine {
    static func text(_ envelope: JSONText, _ event: JSONValue, _ style: Style) -> String {
        func field(_ name: String) -> String { SanitizedText.safe(event[name]?.string ?? "-") }
        let data = SanitizedText.safe(envelope.rawMember("data")?.onOneLine().description ?? "")
        let words = [
            style.faint(time(field("timestamp"))), style.name(field("channel")), style.heading(field("type")),
            field("user"), data,
        ]
        return words.joined(separator: "  ")
    }

    /// `2024-11-24T01:39:05.678901Z` to the millisecond, with a blank between date and time.
    static func time(_ timestamp: String) -> String {
        guard timestamp.utf8.count == 27, timestamp.hasSuffix("Z") else { return timestamp }
        return timestamp.dropLast(4).replacing("T", with: " ") + "Z"
    }
}
