import ChatModel
import JSON
import Logging

/// How lines of the log look.
enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// For collectors: an object a line.
    case json
}

extension LogFormat {
    /// One line, its end included.
    func line(_ event: LogEvent, room: String, _ fields: [(key: String, value: Logger.MetadataValue)]) -> [UInt8] {
        let now = WallClock.system.now.timestamp
        switch self {
        case .text:
            var line = "\(now) \(event.level) \(LineLogHandler.escaped(event.message.description)) room=\(room)"
            for (name, value) in fields { line += " \(name)=\(LineLogHandler.quoted(value.description))" }
            return Array((line + "\n").utf8)
        case .json:
            var writer = JSONWriter(capacity: 256)
            writer.beginObject()
            writer.member("time", now)
            writer.member("level", event.level.rawValue)
            writer.member("message", event.message.description)
            writer.member("room", room)
            for (name, value) in fields where !Self.ownNames.contains(name) {
                writer.key(text: name)
                writer.string(value.description)
            }
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
    }

    /// No member may come twice.
    private static let ownNames: Set = ["time", "level", "message", "room"]
}
