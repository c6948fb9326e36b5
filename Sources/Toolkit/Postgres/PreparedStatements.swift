/// The statements that a connection has prepared on its server.
///
/// A statement is prepared under a generated name, which is never used for another statement. The key is the text with
/// the types of the parameters. A statement with NULL also fits a key with another type at that position.
struct PreparedStatements {
    /// A name on the server.
    struct Entry {
        let name: String
        let types: [UInt32]
    }

    /// The way in which a statement is sent.
    enum Form {
        /// Under the name of a statement that exists on the server.
        case prepared(name: String)
        /// Prepared first, under a new name.
        case new(Entry)
        /// Without a name.
        case unnamed
    }

    private let limit: Int
    private var entries: [String: [Entry]] = [:]
    /// The number of names that exist on the server.
    private(set) var count = 0
    private var lastName = 0

    init(limit: Int) { self.limit = limit }

    /// Returns the form of a statement. A new entry counts as prepared until ``forget(_:of:)``.
    mutating func form(of statement: Statement) -> Form {
        let types = statement.parameters.map(\.typeID)
        let known = entries[statement.text] ?? []
        if let entry = known.first(where: { Self.fits(types, $0.types) }) { return .prepared(name: entry.name) }
        guard count < limit else { return .unnamed }
        lastName += 1
        count += 1
        let entry = Entry(name: "s\(lastName)", types: types)
        entries[statement.text, default: []].append(entry)
        return .new(entry)
    }

    /// Removes a name that the server does not have, because its pipeline failed.
    mutating func forget(_ name: String, of text: String) {
        count -= 1
        drop(name, of: text)
    }

    /// Stops the use of a name that remains on the server and still counts.
    mutating func drop(_ name: String, of text: String) {
        entries[text]?.removeAll { $0.name == name }
        if entries[text]?.isEmpty == true { entries[text] = nil }
    }

    private static func fits(_ types: [UInt32], _ prepared: [UInt32]) -> Bool {
        types.count == prepared.count
            && zip(types, prepared).allSatisfy { $0 == $1 || $0 == TypeID.unknown }
    }
}
