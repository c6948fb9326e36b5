import ChatModel
import JSON
import Postgres
import StorageCore

/// The columns of the tables `event` and `passing`.
enum EventColumns {
    /// The columns that ``read(_:_:)`` expects, of the rows `e` of an event table and `c` of the table `channel`, and
    /// whether the event is ephemeral.
    static func selected(isPassing: Bool) -> String {
        """
        e.tt, c.app, c.name, e.kind, e.type, e.sender, e.body, e.meta, e.expires, e.custom_type, e.schema_type, \
        e.schema_version, e.cause, e.audience, e.origin, e.wire, e.trace, e.by_type, e.thread, e.echoes, \(isPassing)
        """
    }

    /// The event in a row.
    static func read(_ rows: Rows, _ row: Int) -> Event {
        StoredEvent(
            timetoken: rows.timetoken(row, 0) ?? .zero,
            channel: ChannelID(rows.text(row, 2) ?? "", in: AppID(rows.text(row, 1) ?? "")),
            kind: Int(rows.integer(row, 3) ?? 0), type: rows.text(row, 4) ?? "", user: rows.text(row, 5),
            data: rows.bytes(row, 6) ?? [], meta: rows.bytes(row, 7), expires: rows.timetoken(row, 8),
            customType: rows.text(row, 9), schemaType: rows.text(row, 10),
            schemaVersion: rows.integer(row, 11).map(Int.init), cause: rows.text(row, 12), audience: rows.text(row, 13),
            origin: rows.text(row, 14), wire: rows.bytes(row, 15), trace: rows.text(row, 16),
            isEndedByType: rows.boolean(row, 17) ?? false, thread: rows.timetoken(row, 18),
            echoes: rows.text(row, 19), isPassing: rows.boolean(row, 20) ?? false
        ).event
    }

    static func read(_ rows: Rows) -> [Event] { (0..<rows.count).map { read(rows, $0) } }

    /// The statement that inserts events into one of the two tables.
    ///
    /// - Parameter ids: the numbers of the events' channels.
    static func insert(_ events: [Event], into table: String, ids: [ChannelID: Int64]) -> Statement {
        let rows = events.map { StoredEvent($0) }
        return Statement(
            """
            INSERT INTO \(table)(tt, ch, kind, type, sender, body, meta, expires, custom_type, schema_type, \
            schema_version, cause, audience, origin, wire, trace, by_type, thread, echoes)
            SELECT tt, ch, kind, type, sender, body, meta, expires, custom_type, schema_type, schema_version, cause, \
            audience, origin, wire, trace, by_type <> 0, thread, echoes
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], \
            $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::text[], \
            $15::bytea[], $16::text[], $17::bigint[], $18::bigint[], $19::text[]) AS u(tt, ch, kind, type, sender, \
            body, meta, expires, custom_type, schema_type, schema_version, cause, audience, origin, wire, trace, \
            by_type, thread, echoes)
            """,
            [
                .integers(rows.map { Int64($0.timetoken.rawValue) }), .integers(rows.map { ids[$0.channel] }),
                .integers(rows.map { Int64($0.kind) }), .texts(rows.map(\.type)), .texts(rows.map(\.user)),
                .byteStrings(rows.map(\.data)), .byteStrings(rows.map(\.meta)),
                .integers(rows.map { $0.expires?.stored }), .texts(rows.map(\.customType)),
                .texts(rows.map(\.schemaType)), .integers(rows.map { $0.schemaVersion.map(Int64.init) }),
                .texts(rows.map(\.cause)), .texts(rows.map(\.audience)), .texts(rows.map(\.origin)),
                .byteStrings(rows.map(\.wire)), .texts(rows.map(\.trace)),
                .integers(rows.map { $0.isEndedByType ? 1 : 0 }), .integers(rows.map { $0.thread?.stored }),
                .texts(rows.map(\.echoes)),
            ])
    }
}

extension Timetoken {
    /// The timetoken as a number of the database. Values above its largest number become that number.
    var stored: Int64 { Int64(clamping: rawValue) }
}

extension Value {
    static func timetoken(_ timetoken: Timetoken) -> Value { .integer(timetoken.stored) }
    static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
}

extension Rows {
    func timetoken(_ row: Int, _ column: Int) -> Timetoken? {
        integer(row, column).map { Timetoken(UInt64(clamping: $0)) }
    }

    /// The record in a row whose columns are ``PostgresStore/recordColumns``.
    func record(_ row: Int) -> Record {
        let app = AppID(text(row, 0) ?? "")
        let kind = RecordKind(rawValue: Int(integer(row, 1) ?? 0)) ?? .setting
        return Record(
            key: RecordKey(kind, text(row, 2) ?? "", in: app), parent: text(row, 3),
            body: .init(trusted: bytes(row, 6) ?? []), etag: ETag.text(integer(row, 4) ?? 0),
            updated: timetoken(row, 5) ?? .zero)
    }
}
