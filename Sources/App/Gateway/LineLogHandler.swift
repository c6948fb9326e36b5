import ChatModel
import Glibc
import JSON
import Locking
import Logging
import Synchronization

/// Writes each log entry as one line to stderr, in the format ``LogFormat``.
///
/// Values with spaces or quotes are quoted, and line breaks are escaped, so that untrusted input cannot forge a line.
struct LineLogHandler: LogHandler {
    /// The level of all log handlers. They share it, so that SIGHUP can change it.
    static var threshold: Logger.Level {
        get { Logger.Level.allCases[thresholdIndex.load(ordering: .relaxed)] }
        set { thresholdIndex.store(index(of: newValue), ordering: .relaxed) }
    }
    /// True when requests are logged. Read for every request.
    static var logsRequests: Bool { thresholdIndex.load(ordering: .relaxed) <= indexOfDebug }

    /// The index of the level in `Logger.Level.allCases`, whose order is from `trace` to `critical`.
    private static let thresholdIndex = Atomic(index(of: .info))
    private static let indexOfDebug = index(of: .debug)

    private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }

    /// The format of all log handlers.
    static let format = Lock(LogFormat.text)

    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level {
        get { Self.threshold }
        set { Self.threshold = newValue }
    }

    private let label: String

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { _, new in new }.sorted { $0.key < $1.key }
        let line = Self.format.withLock { $0 }.line(event, module: label, fields)
        // Each line is one write, so that lines of several threads are not mixed. A failed write cannot be reported.
        _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 != 0x7F }
        return isPlain ? text : "\"\(escaped(text))\""
    }

    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\"" || $0 == "\\" || $0.value == 0x7F })
        else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// The format of log lines.
enum LogFormat: String, Sendable, CaseIterable {
    /// For human readers: time, level, message, then `name=value` for each field.
    case text
    /// For log collectors: one JSON object per line.
    case json
}

extension LogFormat {
    /// Returns the line for an entry, including its line end.
    func line(_ event: LogEvent, module: String, _ fields: [(key: String, value: Logger.MetadataValue)]) -> [UInt8] {
        let now = WallClock.system.now.timestamp
        switch self {
        case .text:
            var line = "\(now) \(event.level) \(LineLogHandler.escaped(event.message.description)) module=\(module)"
            for (name, value) in fields { line += " \(name)=\(LineLogHandler.quoted(value.description))" }
            return Array((line + "\n").utf8)
        case .json:
            var writer = JSONWriter(capacity: 256)
            writer.beginObject()
            writer.member("time", now)
            writer.member("level", event.level.rawValue)
            writer.member("message", event.message.description)
            writer.member("module", module)
            for (name, value) in fields where !Self.ownNames.contains(name) {
                writer.key(text: name)
                writer.string(value.description)
            }
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
    }

    /// The member names of the format itself. A field with one of these names is left out, because a name must not
    /// repeat.
    private static let ownNames: Set = ["time", "level", "message", "module"]
}
