package import ChatModel

/// The content of a store that no engine has open.
package protocol StoreContents: AnyObject {
    /// The ends of the store's numberings.
    func head() throws(MigrationFailure) -> ContentHead

    /// Counts the rows of a table.
    func count(_ table: ContentTable) throws(MigrationFailure) -> Int

    /// Returns the next rows of a table, at most a few megabytes; nil at its end. A call for another table begins at the
    /// start of that table.
    func next(_ table: ContentTable) async throws(MigrationFailure) -> ContentRows?
}

/// The ends of a store's numberings.
package struct ContentHead: Sendable {
    /// The highest timetoken that the store may have assigned.
    package var timetoken: Timetoken
    /// The last revision of the directory of records.
    package var revision: Revision
    /// The end of the last interval whose events were lost when a backup was restored; zero when there is none.
    package var restored: Timetoken
    /// The highest number that distinguishes leases of this store from later ones (`DeliveryScheduler`).
    package var life: UInt64

    package init(timetoken: Timetoken, revision: Revision, restored: Timetoken, life: UInt64) {
        self.timetoken = timetoken
        self.revision = revision
        self.restored = restored
        self.life = life
    }
}

/// The reason why a store's content was not copied. The text is for the operator.
package struct MigrationFailure: Error, Sendable, CustomStringConvertible {
    /// One sentence that describes the problem and, if possible, its solution.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A step of a migration, with its progress in rows.
package enum MigrationProgress: Sendable, Equatable {
    case copying(ContentTable, done: Int, of: Int)
    /// The rows of the copy are read and compared with the original rows.
    case comparing(ContentTable, done: Int, of: Int)
}
