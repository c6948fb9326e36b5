import ChatModel
import JSON
import Postgres
import StorageCore

extension Rows {
    /// The columns that ``record(_:in:kind:)`` reads, in their order, of the table `record`.
    static let recordColumns = "record.id, record.parent, record.tag, record.updated, record.body"

    /// Returns the record in a row whose first columns are ``recordColumns``.
    func record(_ row: Int, in app: AppID, kind: RecordKind) -> Record {
        Record(
            key: RecordKey(kind, text(row, 0) ?? "", in: app), parent: text(row, 1),
            body: JSONText(trusted: bytes(row, 4) ?? []), etag: ETag.text(integer(row, 2) ?? 0),
            updated: Timetoken(UInt64(bitPattern: integer(row, 3) ?? 0)))
    }
}
