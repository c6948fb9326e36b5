import ChatModel

/// The binary form of a ``Frame`` on the bus. Numbers have their least significant byte first; texts and byte strings
/// follow their length.
///
/// Nodes of two versions may share a bus. A frame of another version of the format is dropped, and the node reads the
/// commit from the store instead. Notices are also stored, without the version of frames: each notice has its length, so
/// that a node skips a kind that it does not know. Never change the form of a kind: add another kind.
enum FrameCodec {
    /// The version of the format of frames. Change it with every change of this format.
    static let version: UInt8 = 1

    static func encode(_ frame: Frame) -> [UInt8] {
        var out = ByteWriter()
        out.bytes.reserveCapacity(frame.events.reduce(256) { $0 + $1.weight })
        out.bytes.append(version)
        for number in [frame.after, frame.head.commit, frame.head.timetoken.rawValue, frame.head.revision] {
            out.write(number)
        }
        out.write(count: frame.changes.count)
        for change in frame.changes {
            out.write(change.revision)
            out.write(count: change.keys.count)
            for key in change.keys {
                out.write(text: key.app.name)
                out.bytes.append(UInt8(key.kind.rawValue))
                out.write(text: key.id)
            }
        }
        out.write(frame.notices)
        out.write(count: frame.events.count)
        for event in frame.events { out.write(StoredEvent(event)) }
        return out.bytes
    }

    /// Decodes a frame; nil for bytes that are not a frame of this version.
    static func decode(_ bytes: [UInt8]) -> Frame? {
        var input = ByteReader(bytes)
        guard input.byte() == version else { return nil }
        var frame = Frame(after: input.number(), head: Head())
        frame.head.commit = input.number()
        frame.head.timetoken = Timetoken(input.number())
        frame.head.revision = input.number()
        for _ in 0..<input.count() {
            var change = RecordChanges(keys: [], revision: input.number())
            for _ in 0..<input.count() {
                let app = AppID(input.text())
                // A kind that is unknown here was written by a newer program. Nothing here reads its records.
                let kind = RecordKind(rawValue: Int(input.byte()))
                let id = input.text()
                if let kind { change.keys.append(RecordKey(kind, id, in: app)) }
            }
            frame.changes.append(change)
        }
        frame.notices = input.notices()
        for _ in 0..<input.count() { frame.events.append(input.event().event) }
        return input.isComplete ? frame : nil
    }

    /// The binary form of notices alone, as the store keeps them.
    static func encode(_ notices: [Notice]) -> [UInt8] {
        var out = ByteWriter()
        out.write(notices)
        return out.bytes
    }

    /// The notices of known kinds.
    static func notices(_ bytes: [UInt8]) -> [Notice] {
        var input = ByteReader(bytes)
        return input.notices()
    }
}

/// Writes values in the form of ``FrameCodec``.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func write(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(count: Int) {
        withUnsafeBytes(of: UInt32(count).littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(text: String) {
        write(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(bytes more: [UInt8]) {
        write(count: more.count)
        bytes.append(contentsOf: more)
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ notices: [Notice]) {
        write(count: notices.count)
        for notice in notices {
            var body = ByteWriter()
            body.write(notice)
            write(bytes: body.bytes)
        }
    }

    private mutating func write(_ notice: Notice) {
        switch notice {
        case .deleted(let timetokens):
            bytes.append(1)
            write(count: timetokens.count)
            for timetoken in timetokens { write(timetoken.rawValue) }
        case .retention(let app, let ticks):
            bytes.append(2)
            write(text: app)
            write(UInt64(bitPattern: ticks ?? -1))
        case .swept(let app, let swept, let newestLoss):
            bytes.append(3)
            write(text: app)
            write(swept.rawValue)
            write(newestLoss.rawValue)
        }
    }

    fileprivate mutating func write(_ event: StoredEvent) {
        write(event.timetoken.rawValue)
        write(text: event.channel.app.name)
        write(text: event.channel.name)
        bytes.append(UInt8(event.kind))
        write(text: event.type)
        write(bytes: event.data)
        bytes.append((event.isEndedByType ? 1 : 0) | (event.isPassing ? 2 : 0))
        for text in event.optionalTexts { write(optional: text.map { Array($0.utf8) }) }
        for more in [event.meta, event.wire] { write(optional: more) }
        for number in event.optionalNumbers { write(number ?? 0) }
    }

    private mutating func write(optional more: [UInt8]?) {
        bytes.append(more == nil ? 0 : 1)
        if let more { write(bytes: more) }
    }
}

extension StoredEvent {
    fileprivate var optionalTexts: [String?] {
        [user, customType, schemaType, cause, audience, origin, trace, echoes]
    }

    /// Zero stands for nil: no event has the position zero, and schema versions begin at one.
    fileprivate var optionalNumbers: [UInt64?] {
        [expires?.rawValue, schemaVersion.map(UInt64.init), thread?.rawValue]
    }
}

/// Reads values in the form of ``FrameCodec``. Past the end it returns zeros and empty values, and ``isComplete`` is
/// false.
struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0
    private var isCut = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// True when all bytes are read and none was missing.
    var isComplete: Bool { !isCut && position == bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else {
            isCut = true
            return 0
        }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(byte()) << (8 * UInt64($1)) } }

    /// A number of elements. Each element has at least one byte, so a larger number is invalid.
    mutating func count() -> Int {
        let count = (0..<4).reduce(0) { $0 | Int(byte()) << (8 * $1) }
        guard count <= bytes.count - position else {
            isCut = true
            position = bytes.count
            return 0
        }
        return count
    }

    mutating func byteString() -> [UInt8] {
        let count = count()
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func text() -> String { String(decoding: byteString(), as: UTF8.self) }
}

extension ByteReader {
    /// The notices of known kinds.
    fileprivate mutating func notices() -> [Notice] {
        (0..<count()).compactMap { _ in
            var body = ByteReader(byteString())
            return body.notice().flatMap { body.isComplete ? $0 : nil }
        }
    }

    private mutating func notice() -> Notice? {
        switch byte() {
        case 1: return .deleted((0..<count()).map { _ in Timetoken(number()) })
        case 2:
            let app = text()
            let ticks = Int64(bitPattern: number())
            return .retention(app: app, ticks: ticks < 0 ? nil : ticks)
        case 3:
            let app = text()
            let swept = Timetoken(number())
            return .swept(app: app, swept: swept, newestLoss: Timetoken(number()))
        default: return nil
        }
    }

    fileprivate mutating func event() -> StoredEvent {
        let timetoken = Timetoken(number())
        let app = AppID(text())
        let channel = ChannelID(text(), in: app)
        let kind = Int(byte())
        let type = text()
        let data = byteString()
        let flags = byte()
        let texts = (0..<8).map { _ in optional().map { String(decoding: $0, as: UTF8.self) } }
        let meta = optional()
        let wire = optional()
        let numbers = (0..<3).map { _ in number() }
        return StoredEvent(
            timetoken: timetoken, channel: channel, kind: kind, type: type, user: texts[0], data: data, meta: meta,
            expires: numbers[0] == 0 ? nil : Timetoken(numbers[0]), customType: texts[1], schemaType: texts[2],
            schemaVersion: numbers[1] == 0 ? nil : Int(numbers[1]), cause: texts[3], audience: texts[4],
            origin: texts[5], wire: wire, trace: texts[6], isEndedByType: flags & 1 != 0,
            thread: numbers[2] == 0 ? nil : Timetoken(numbers[2]), echoes: texts[7], isPassing: flags & 2 != 0)
    }

    private mutating func optional() -> [UInt8]? { byte() == 0 ? nil : byteString() }
}
