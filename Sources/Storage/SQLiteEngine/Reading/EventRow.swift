import ChatModel
import JSON
import SQLite
import StorageCore

/// The columns of an event's row. The statements that write and read events share this list.
enum EventRow {
    static let columns = """
        tt, ch, kind, type, sender, body, meta, expires, custom_type, schema_type, schema_version, cause, audience, \
        origin, wire, trace, by_type, thread
        """
    static let insert = "INSERT INTO event(\(columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"

    /// The value that marks an imported event in the column `origin`. For other events, the column contains the name of
    /// the sender's device, which is never empty, or NULL.
    private static let importedOrigin = ""

    /// True when the event in the current row was imported. Consumers that follow the log do not receive imported
    /// events.
    static func isImported(_ row: Statement) -> Bool {
        !row.isNull(13) && row.withBytes(13) { $0.isEmpty }
    }

    /// Binds the event's values to ``insert`` and runs it. SQLite reads the payload without copying it.
    static func write(
        _ event: Event, channel: Int64, type: Int64, schemaType: Int64?, with insert: Statement
    ) throws(SQLiteFailure) {
        // A local constant for the draft would copy all its fields.
        insert.bind(Int64(event.timetoken.rawValue), at: 1)
        insert.bind(channel, at: 2)
        insert.bind(event.draft.kind.rawValue, at: 3)
        insert.bind(type, at: 4)
        insert.bind(event.draft.user, at: 5)
        if let meta = event.draft.meta { insert.bind(meta.bytes, at: 7) } else { insert.bindNull(at: 7) }
        insert.bind((event.draft.expires?.rawValue).map(Int64.init), at: 8)
        insert.bind(event.draft.customType, at: 9)
        insert.bind(schemaType, at: 10)
        insert.bind((event.draft.schema?.version).map(Int64.init), at: 11)
        insert.bind(event.draft.cause, at: 12)
        insert.bind(event.draft.audience.stored, at: 13)
        insert.bind(event.draft.past == nil ? event.draft.originDevice : Self.importedOrigin, at: 14)
        if let wire = event.draft.wire { insert.bind(wire.bytes, at: 15) } else { insert.bindNull(at: 15) }
        insert.bind(event.draft.trace?.stored, at: 16)
        insert.bind(event.draft.isEndedByType ? 1 : nil, at: 17)
        insert.bind((event.draft.thread?.rawValue).map(Int64.init), at: 18)
        try event.draft.data.bytes.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            insert.bindInPlace(bytes: bytes, at: 6)
            try insert.run()
        }
    }

    /// Reads the event from the statement's current row, whose first columns are ``columns``.
    static func read(_ row: Statement, _ names: NameTable) throws(SQLiteFailure) -> Event {
        var draft = EventDraft(
            channel: try names.channel(row.integer(1)), type: try names.type(row.integer(3)),
            kind: EventKind(rawValue: Int(row.integer(2))) ?? .other, data: JSONText(trusted: row.bytes(5)),
            user: row.optionalText(4), meta: row.optionalJSON(6))
        draft.expires = row.optionalInteger(7).map { Timetoken(UInt64($0)) }
        draft.customType = row.optionalText(8)
        if let type = row.optionalInteger(9) {
            draft.schema = SchemaReference(type: try names.type(type), version: Int(row.integer(10)))
        }
        draft.cause = row.optionalText(11)
        draft.audience = Audience(stored: row.optionalText(12))
        if isImported(row) {
            draft.past = Timetoken(UInt64(row.integer(0)))
        } else {
            draft.originDevice = row.optionalText(13)
        }
        draft.wire = row.optionalJSON(14)
        draft.trace = row.optionalText(15).flatMap { TraceContext(stored: $0) }
        draft.isEndedByType = !row.isNull(16)
        draft.thread = row.optionalInteger(17).map { Timetoken(UInt64($0)) }
        return Event(timetoken: Timetoken(UInt64(row.integer(0))), draft: draft)
    }
}

extension Statement {
    func optionalJSON(_ column: Int32) -> JSONText? { isNull(column) ? nil : JSONText(trusted: bytes(column)) }
}
