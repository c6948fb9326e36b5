import ChatModel

/// An object that is returned together with an event, when the reader requests it with `include`.
public enum IncludedObject: String, CaseIterable, Sendable {
    /// The record of the user who caused the event.
    case user
    /// The record of the event's channel, with its member counts.
    case channel
    /// The thread that the message starts or belongs to.
    case thread
    /// The membership of the event's user in the event's channel.
    case member

    /// The maximum number of events in a page with included objects. The objects of one event may take up to 150 KiB.
    public static let pageMost = 100

    /// Parses a list of names, which may contain duplicates.
    ///
    /// - Returns: the objects. If a name is unknown, an empty set and the index of the first unknown name.
    public static func objects(named names: [String]) -> (objects: Set<IncludedObject>, unknown: Int?) {
        var objects: Set<IncludedObject> = []
        for (index, name) in names.enumerated() {
            guard let object = IncludedObject(rawValue: name) else { return ([], index) }
            objects.insert(object)
        }
        return (objects, nil)
    }

    /// Returns the names of the objects in their documented order.
    public static func names(of objects: Set<IncludedObject>) -> [String] {
        allCases.filter(objects.contains).map(\.rawValue)
    }

    /// The accepted names, for error messages.
    public static let choices = "'user', 'channel', 'thread' or 'member'"
}

/// The objects that a reader requested, and the rights of the reader that determine the content of these objects.
///
/// Readers with equal policies get the same bytes for the same event.
public struct IncludePolicy: Hashable, Sendable {
    /// The kind of reader, which determines the content of the objects.
    enum Reader: Hashable, Sendable {
        /// A program of the app. The program sees all fields of users, and all channels that its patterns cover.
        case app
        /// Any of several users who may receive events of the same channels. Such a reader sees only the public fields
        /// of users.
        case anyUser
        /// One user. The user sees all fields of the user's own record, public fields of other records, and the
        /// channels that the user may see.
        case user(ExactText)
    }

    /// The requested objects; never empty.
    public let objects: Set<IncludedObject>
    let reader: Reader

    private init(_ objects: Set<IncludedObject>, for reader: Reader) {
        self.objects = objects
        self.reader = reader
    }

    /// Returns the policy of a webhook or a pull subscription; nil for an empty set of objects.
    public static func ofApp(_ objects: Set<IncludedObject>) -> IncludePolicy? {
        objects.isEmpty ? nil : IncludePolicy(objects, for: .app)
    }

    /// Creates the policy of a caller; nil for an empty set of objects.
    ///
    /// - Parameters:
    ///   - objects: the requested objects.
    ///   - selection: the selection of a stream. All streams with this selection receive the same bytes. Nil for a
    ///     response to this caller only.
    init?(_ objects: Set<IncludedObject>, for caller: Caller, following selection: Selection?) {
        guard !objects.isEmpty else { return nil }
        let reader: Reader =
            if let viewer = selection?.viewer {
                .user(ExactText(viewer.user))
            } else if let user = caller.user {
                selection == nil ? .user(ExactText(user)) : .anyUser
            } else {
                // A caller with a token proof but without a user has a stream ticket. A user may hold the ticket, but
                // it does not name the user.
                caller.proof == nil ? .app : .anyUser
            }
        self.init(objects, for: reader)
    }
}

extension ChatAccess {
    /// Returns the policy that decides which objects and fields the caller receives together with events; nil for an
    /// empty set of objects.
    ///
    /// - Parameters:
    ///   - objects: the requested objects.
    ///   - selection: the selection of a stream. All streams with this selection receive the same bytes. Nil for a
    ///     response to this caller only.
    public func inclusion(
        of objects: Set<IncludedObject>, following selection: Selection? = nil
    ) -> IncludePolicy? {
        IncludePolicy(objects, for: caller, following: selection)
    }
}
