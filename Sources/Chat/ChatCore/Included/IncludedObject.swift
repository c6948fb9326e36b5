import ChatModel

/// An object that an event is handed out with when its reader asks for it (`include`).
public enum IncludedObject: String, CaseIterable, Sendable {
    /// The record of the user who caused the event.
    case user
    /// The record of the event's channel, with its member counts.
    case channel
    /// The thread that the message begins or belongs to.
    case thread
    /// The membership of the event's user in the event's channel.
    case member

    /// The most events of one page that is read with objects. All objects of one event take up to 150 KiB.
    public static let pageMost = 100

    /// Reads a list of names, which may repeat one.
    ///
    /// - Returns: the objects; for a list with an unknown name none, and the index of the first such name.
    public static func objects(named names: [String]) -> (objects: Set<IncludedObject>, unknown: Int?) {
        var objects: Set<IncludedObject> = []
        for (index, name) in names.enumerated() {
            guard let object = IncludedObject(rawValue: name) else { return ([], index) }
            objects.insert(object)
        }
        return (objects, nil)
    }

    /// The names of a set in their documented order.
    public static func names(of objects: Set<IncludedObject>) -> [String] {
        allCases.filter(objects.contains).map(\.rawValue)
    }

    /// The names that are accepted, for the text of an error.
    public static let choices = "'user', 'channel', 'thread' or 'member'"
}

/// The objects that a reader gets beside events, and the rights by which they are shown.
///
/// Readers with equal inclusions get the same bytes for the same event.
public struct IncludePolicy: Hashable, Sendable {
    /// The reader, as far as it decides what the objects show.
    enum Reader: Hashable, Sendable {
        /// A program of the app: sees every field of users, and every channel that it reaches.
        case app
        /// Any of several users who may hear the same channels: sees the public fields of every user.
        case anyUser
        /// One user: sees every field of its own record, the public fields of others, and the channels that it may know of.
        case user(ExactText)
    }

    /// At least one.
    public let objects: Set<IncludedObject>
    let reader: Reader

    private init(_ objects: Set<IncludedObject>, for reader: Reader) {
        self.objects = objects
        self.reader = reader
    }

    /// What a webhook or a pull subscription gets; nil for an empty set.
    public static func ofApp(_ objects: Set<IncludedObject>) -> IncludePolicy? {
        objects.isEmpty ? nil : IncludePolicy(objects, for: .app)
    }

    /// - Parameters:
    ///   - objects: The result is nil for an empty set.
    ///   - selection: What the caller follows, where the same bytes go to everybody who follows it; nil for an answer of the
    ///     caller's own.
    init?(_ objects: Set<IncludedObject>, for caller: Caller, following selection: Selection?) {
        guard !objects.isEmpty else { return nil }
        let reader: Reader =
            if let viewer = selection?.viewer {
                .user(ExactText(viewer.user))
            } else if let user = caller.user {
                selection == nil ? .user(ExactText(user)) : .anyUser
            } else {
                // A ticket is in a user's hands, whoever that is.
                caller.proof == nil ? .app : .anyUser
            }
        self.init(objects, for: reader)
    }
}

extension ChatAccess {
    /// How the caller gets objects beside events.
    ///
    /// - Parameters:
    ///   - objects: The result is nil for an empty set.
    ///   - selection: What the caller follows, for a stream, whose bytes are shared; nil for an answer of the caller's own.
    public func inclusion(
        of objects: Set<IncludedObject>, following selection: Selection? = nil
    ) -> IncludePolicy? {
        IncludePolicy(objects, for: caller, following: selection)
    }
}
