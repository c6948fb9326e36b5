import ChatModel
import SQLite

/// The cache of one connection for the numbers that the tables use for channels, apps and event types.
///
/// Only existing names are cached, because the writer may create a missing name at any time.
final class NameTable {
    private var channelIDs = GenerationCache<ChannelID, Int64>(capacity: 65_536)
    private var channels = GenerationCache<Int64, ChannelID>(capacity: 65_536)
    private var typeIDs = GenerationCache<String, Int64>(capacity: 4096)
    private var types = GenerationCache<Int64, String>(capacity: 4096)
    private var appIDs = GenerationCache<AppID, Int64>(capacity: 4096)

    private let findChannel: Statement
    private let findChannelByID: Statement
    private let findType: Statement
    private let findTypeByID: Statement
    private let findApp: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        findChannel = try database.prepare("SELECT id FROM channel WHERE app=? AND name=?")
        findChannelByID = try database.prepare(
            "SELECT s.name, c.name FROM channel c JOIN app s ON s.id = c.app WHERE c.id=?")
        findType = try database.prepare("SELECT id FROM type WHERE name=?")
        findTypeByID = try database.prepare("SELECT name FROM type WHERE id=?")
        findApp = try database.prepare("SELECT id FROM app WHERE name=?")
    }

    func id(of channel: ChannelID) throws(SQLiteFailure) -> Int64? {
        if let known = channelIDs.value(of: channel) { return known }
        guard let app = try id(of: channel.app) else { return nil }
        findChannel.bind(app, at: 1)
        findChannel.bind(channel.name, at: 2)
        guard let found = try findChannel.firstInteger() else { return nil }
        channelIDs.insert(found, for: channel)
        return found
    }

    func id(of app: AppID) throws(SQLiteFailure) -> Int64? {
        if let known = appIDs.value(of: app) { return known }
        findApp.bind(app.name, at: 1)
        guard let found = try findApp.firstInteger() else { return nil }
        appIDs.insert(found, for: app)
        return found
    }

    func id(ofType name: String) throws(SQLiteFailure) -> Int64? {
        if let known = typeIDs.value(of: name) { return known }
        findType.bind(name, at: 1)
        guard let found = try findType.firstInteger() else { return nil }
        typeIDs.insert(found, for: name)
        return found
    }

    /// Returns the channel with this number. Throws if there is none, because rows and names are written together and a
    /// missing name means that the database is damaged.
    func channel(_ id: Int64) throws(SQLiteFailure) -> ChannelID {
        if let known = channels.value(of: id) { return known }
        findChannelByID.bind(id, at: 1)
        defer { findChannelByID.reset() }
        let found =
            try findChannelByID.step()
            ? ChannelID(findChannelByID.text(1), in: AppID(findChannelByID.text(0)))
            : ChannelID("", in: AppID(""))
        channels.insert(found, for: id)
        return found
    }

    func type(_ id: Int64) throws(SQLiteFailure) -> String {
        if let known = types.value(of: id) { return known }
        findTypeByID.bind(id, at: 1)
        defer { findTypeByID.reset() }
        let found = try findTypeByID.step() ? findTypeByID.text(0) : ""
        types.insert(found, for: id)
        return found
    }

    func remember(_ id: Int64, for channel: ChannelID) { channelIDs.insert(id, for: channel) }
    func remember(_ id: Int64, for app: AppID) { appIDs.insert(id, for: app) }
    func remember(_ id: Int64, forType name: String) { typeIDs.insert(id, for: name) }

    /// Clears the cache after a rollback, because the names created in the transaction no longer exist.
    func forget() {
        channelIDs.removeAll()
        channels.removeAll()
        typeIDs.removeAll()
        types.removeAll()
        appIDs.removeAll()
    }
}

extension Statement {
    /// Runs the statement, returns the first column of its first row (nil when there is no row), and resets the
    /// statement.
    func firstInteger() throws(SQLiteFailure) -> Int64? {
        defer { reset() }
        return try step() ? integer(0) : nil
    }
}
