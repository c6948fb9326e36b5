public import ChatModel
import JSON
import Locking

/// A stored version of a schema that this gateway cannot compile: in mode `enforce` every event of its type is refused.
public struct UnusableVersion: Sendable {
    public var app: AppID
    public var type: String
    public var number: Int
    /// Why, in a sentence.
    public var fault: String
}

extension EventTypes {
    /// Calls `body` for each unusable version that is met: when the gateway starts, when it is declared elsewhere.
    public func observeUnusable(_ body: @escaping @Sendable (UnusableVersion) -> Void) {
        unusableObservers.withLock { $0.append(body) }
    }

    /// Tells the process and, by `schema.unusable` on `$system`, the app's operators.
    func tell(of version: UnusableVersion) async {
        for observer in unusableObservers.withLock({ $0 }) { observer(version) }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("event_type", version.type)
            writer.member("schema_version", version.number)
            writer.member("reason", version.fault)
            writer.endObject()
        }
        let channel = ChannelID(ChannelID.systemName, in: version.app)
        // Told to the process already; the types must not wait for a log that takes nothing now.
        _ = try? await log.append([EventDraft(channel: channel, type: "schema.unusable", data: data)], claim: nil)
    }
}
