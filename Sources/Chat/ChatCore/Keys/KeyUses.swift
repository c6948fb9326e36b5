public import ChatModel
import JSON
import Locking

/// When each key was used last, to a minute: noted in memory, and written once a minute where there is anything new.
struct KeyUses {
    /// The resolution of the stored times: a later use within it is not recorded.
    private static let grain: Duration = .seconds(60)

    /// The times by app, so that writing those of one app looks at no other app's keys.
    private var times: [AppID: [RecordKey: Timetoken]] = [:]
    /// Apps with times that are not written yet.
    private var unwritten: Set<AppID> = []

    /// - Returns: the time until which further uses of the key need not be noted.
    mutating func note(_ key: RecordKey, at now: Timetoken) -> Timetoken {
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

    /// The times of an app's keys; a copy that shares its storage.
    subscript(app: AppID) -> [RecordKey: Timetoken] { times[app] ?? [:] }

    /// Takes what is stored of an app's keys: what was noted meanwhile is newer.
    ///
    /// - Parameter isKnown: whether there is a key; the time of one that is deleted is left out.
    mutating func merge(_ stored: Record, of isKnown: (RecordKey) -> Bool) {
        for member in stored.body.rawMembers() ?? [] {
            guard let time = Timetoken(text: member.value.description) else { continue }
            let key = RecordKey(.key, member.name, in: stored.key.app)
            if isKnown(key) { times[key.app, default: [:]][key] = max(self[key] ?? .zero, time) }
        }
    }

    /// Some of the apps with times that are not written yet; they count as written from now on.
    mutating func takeUnwritten(_ most: Int) -> [AppID] {
        let apps = Array(unwritten.prefix(most))
        unwritten.subtract(apps)
        return apps
    }

    mutating func putBack(_ apps: [AppID]) { unwritten.formUnion(apps) }

    static func recordKey(of app: AppID) -> RecordKey { RecordKey(.setting, "key-uses", in: app) }
}

extension Keyring {
    /// Apps whose times are written in one commit.
    private static let writtenAtOnce = 100

    /// When a key, or a token of a user that it stands behind, was shown last, to a minute; nil for one that never was.
    public func lastUse(of key: APIKey) -> Timetoken? { contents.withLock { $0.uses[key.recordKey] } }

    /// Notes that a token was shown that a key stands behind. Nothing happens where there is no such key.
    public func noteUse(ofKey id: String, in app: AppID) {
        let (key, now) = (RecordKey(.key, id, in: app), clock.now)
        contents.withLock { contents in
            if contents.keys[key] != nil { _ = contents.uses.note(key, at: now) }
        }
    }

    /// Reads what earlier runs have written; behind the keys.
    func loadUses() async throws(ChatError) {
        let apps = apps.map(\.id)
        for start in stride(from: 0, to: apps.count, by: Self.writtenAtOnce) {
            let part = apps[start...].prefix(Self.writtenAtOnce)
            for record in try await directory.read(part.map(KeyUses.recordKey)).compactMap(\.self) {
                contents.withLock { contents in
                    let keys = contents.keys
                    contents.uses.merge(record) { keys[$0] != nil }
                }
            }
        }
    }

    /// Writes what is new. What the store does not take now is left for the next time.
    func writeUses() async {
        while true {
            let apps = contents.withLock { $0.uses.takeUnwritten(Self.writtenAtOnce) }
            guard !apps.isEmpty else { return }
            do throws(ChatError) {
                // Another node may have written later times.
                for record in try await directory.read(apps.map(KeyUses.recordKey)).compactMap(\.self) {
                    contents.withLock { contents in
                        let keys = contents.keys
                        contents.uses.merge(record) { keys[$0] != nil }
                    }
                }
                _ = try await directory.write(
                    apps.map { RecordChange(KeyUses.recordKey(of: $0), body: uses(in: $0)) })
            } catch {
                contents.withLock { $0.uses.putBack(apps) }
                return
            }
        }
    }

    /// The times of an app's keys. A deleted key has none: its time goes with it.
    private func uses(in app: AppID) -> JSONText {
        let times = contents.withLock { $0.uses[app] }
        return JSONText { writer in
            writer.beginObject()
            for (key, time) in times {
                writer.key(text: key.id)
                writer.raw(JSONText(trusted: Array(time.description.utf8)))
            }
            writer.endObject()
        }
    }
}
