/// A parser of event streams (WHATWG HTML, section 9.2.6) for bytes in pieces of any size.
///
/// It is stricter than browsers: bytes that are not UTF-8 are counted instead of replaced silently.
public struct EventStreamParser: Sendable {
    /// One dispatched event.
    public struct Event: Sendable, Equatable {
        /// The last event id at the time of dispatch: that of an earlier block when this one had none.
        public var lastEventID: String
        /// True when this block had an `id` field.
        public var hasID: Bool
        /// The type; `message` when the block had no `event` field.
        public var type: String
        public var data: String
        /// The block's `retry` field in milliseconds.
        public var retry: Int?

        public init(lastEventID: String, hasID: Bool, type: String, data: String, retry: Int?) {
            self.lastEventID = lastEventID
            self.hasID = hasID
            self.type = type
            self.data = data
            self.retry = retry
        }
    }

    /// An item of the stream.
    public enum Item: Sendable, Equatable {
        case event(Event)
        /// A comment line, without its colon.
        case comment(String)
    }

    private var line: [UInt8] = []
    private var endedWithCR = false
    private var isFirstLine = true
    private var data: [String] = []
    private var type = ""
    private var hasID = false
    private var pendingID = ""
    private var retry: Int?

    public private(set) var lastEventID = ""
    /// The number of lines that were not UTF-8.
    public private(set) var brokenLines = 0
    /// The number of blank lines that ended a block without data. Existing clients treat these differently.
    public private(set) var emptyBlocks = 0

    public init() {}

    /// True when the stream so far ends with a complete block or comment.
    public var isBetweenBlocks: Bool { line.isEmpty && data.isEmpty && type.isEmpty && !hasID && retry == nil }

    public mutating func parse(_ bytes: some Sequence<UInt8>) -> [Item] {
        var items: [Item] = []
        for byte in bytes {
            if endedWithCR, byte == 0x0A {
                endedWithCR = false
                continue
            }
            endedWithCR = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                if let item = endLine() { items.append(item) }
            } else {
                line.append(byte)
            }
        }
        return items
    }

    private mutating func endLine() -> Item? {
        var bytes = line[...]
        line = []
        if isFirstLine, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        isFirstLine = false
        guard let text = String(validating: bytes, as: UTF8.self) else {
            brokenLines += 1
            return nil
        }
        if text.isEmpty { return dispatch() }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            field(text, "")
            return nil
        }
        let rest = text[text.utf8.index(after: colon)...]
        if colon == text.startIndex { return .comment(String(rest)) }
        field(String(text[..<colon]), String(rest.hasPrefix(" ") ? rest.dropFirst() : rest))
        return nil
    }

    private mutating func field(_ name: String, _ value: String) {
        switch name {
        case "event": type = value
        case "data": data.append(value)
        case "id":
            guard !value.utf8.contains(0) else { return }
            pendingID = value
            hasID = true
        case "retry":
            if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value) { retry = number }
        default: break
        }
    }

    private mutating func dispatch() -> Item? {
        defer {
            data = []
            type = ""
            hasID = false
            retry = nil
        }
        if hasID { lastEventID = pendingID }
        guard !data.isEmpty else {
            emptyBlocks += 1
            return nil
        }
        return .event(
            Event(
                lastEventID: lastEventID, hasID: hasID, type: type.isEmpty ? "message" : type,
                data: data.joined(separator: "\n"), retry: retry))
    }
}
