public import ChatModel
import JSON
import Locking

/// The time of each key's last use, with a resolution of one minute. The times are recorded in memory. New times are
/// written to the store once a minute, and each node adds the times that others have written to its own.
struct KeyUses {
    /// The resolution of the times. A use within this interval after the last recorded use is not recorded.
    private static let grain: Duration = .seconds(60)

    /// The times of the last uses, by app and key. Writing the times of one app reads only that app's entries.
    private var times: [AppID: [RecordKey: Timetoken]] = [:]
    /// The apps with times of use that are not written to the store yet.
    private var unwritten: Set<AppID> = []

    /// Records a use of a key.
    ///
    /// - Returns: the time until which further uses of the key need not be recorded.
    mutating func record(_ key: RecordKey, at now: Timetoken) -> Timetoken {
        let next = self[key].map { $0.adding(Self.grain) } ?? .zero
        guard now >= next else { return next }
        times[key.app, default: [:]][key] = now
        unwritten.insert(key.app)
        return now.adding(Self.grain)
    }

    mutating func forget(_ key: RecordKey) {
        times[key.app]?[key] = nil
        if times[key.app]?.isEmpty == true { times[key.app] = nil }
    }

    subscript(key: RecordKey) -> Timetoken? { times[key.app]?[key] }

    /// A copy of the times at which an app's keys were last used.
    subscript(app: AppID) -> [RecordKey: Timetoken] { times[app] ?? [:] }

    /// Merges the stored times of an app's keys. A later time in memory has precedence over the stored time.
    ///
    /// - Parameter isKnown: returns true when the key exists. The time of a deleted key is left out.
    mutating func merge(_ stored: Record, of isKnown: (RecordKey) -> Bool) {
        for member in stored.body.rawMembers() ?? [] {
            guard let time = Timetoken(text: member.value.description) else { continue }
            let key = RecordKey(.key, member.name, in: stored.key.app)
            if isKnown(key) { times[key.app, default: [:]][key] = max(self[key] ?? .zero, time) }
        }
    }

    /// Returns at most `most` apps with times that are not written yet, and marks these apps as written.
    mutating func removeUnwritten(_ most: Int) -> [AppID] {
        let apps = Array(unwritten.prefix(most))
        unwritten.subtract(apps)
        return apps
    }

    mutating func putBack(_ apps: [AppID]) { unwritten.formUnion(apps) }

    /// The times of an app's keys as JSON, ordered by the ids of the keys, so that equal times give the same text.
    func body(of app: AppID) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            for (key, time) in self[app].sorted(by: { $0.key.id < $1.key.id }) {
                writer.key(text: key.id)
                writer.raw(JSONText(trusted: Array(time.description.utf8)))
            }
            writer.endObject()
        }
    }

    static func recordKey(of app: AppID) -> RecordKey { RecordKey(.setting, "key-uses", in: app) }
}

extension Keyring {
    /// The maximum number of apps whose times of use are written in one commit.
    private static let writtenAtOnce = 100

    /// The time of the last use of a key, or of a user token that depends on it, to the minute; nil for a key that was
    /// never used.
    public func lastUse(of key: APIKey) -> Timetoken? { contents.withLock { $0.uses[key.recordKey] } }

    /// Records the use of a token that depends on a key. Does nothing when the key does not exist.
    public func recordUse(ofKey id: String, in app: AppID) {
        let (key, now) = (RecordKey(.key, id, in: app), clock.now)
        contents.withLock { contents in
            if contents.keys[key] != nil { _ = contents.uses.record(key, at: now) }
        }
    }

    /// Reads from the store the times of use that earlier runs of the gateway have written. Must run after the keys are
    /// loaded.
    func loadUses() async throws(ChatError) {
        let apps = apps.map(\.id)
        for start in stride(from: 0, to: apps.count, by: Self.writtenAtOnce) {
            let part = apps[start...].prefix(Self.writtenAtOnce)
            for record in try await directory.read(part.map(KeyUses.recordKey)).compactMap(\.self) {
                mergeUses(record)
            }
        }
    }

    /// Adds the times of use that any node has stored.
    func mergeUses(_ record: Record) {
        contents.withLock { contents in
            let keys = contents.keys
            contents.uses.merge(record) { keys[$0] != nil }
        }
    }

    /// Writes to the store the times of use that are not written yet. If the store rejects the write, the next call
    /// tries again.
    func writeUses() async {
        while true {
            let apps = contents.withLock { $0.uses.removeUnwritten(Self.writtenAtOnce) }
            guard !apps.isEmpty else { return }
            do throws(ChatError) {
                let (uses, keys) = contents.withLock { ($0.uses, $0.keys) }
                _ = try await directory.decide(apps.map(KeyUses.recordKey)) { snapshot in
                    var uses = uses
                    // Other nodes may have written later times.
                    for stored in apps.compactMap({ snapshot[KeyUses.recordKey(of: $0)] }) {
                        uses.merge(stored) { keys[$0] != nil }
                    }
                    return Decision(
                        (), changes: apps.map { RecordChange(KeyUses.recordKey(of: $0), body: uses.body(of: $0)) })
                }
            } catch {
                contents.withLock { $0.uses.putBack(apps) }
                return
            }
        }
    }
}
