import ChatModel

/// An object that is returned with an event when its reader requests it (`include`).
public enum IncludedObject: String, CaseIterable, Sendable {
    /// The record of the user who caused the event.
    case user
    /// The record of the event's channel, with its member counts.
    case channel
    /// The thread that the message starts or belongs to.
    case thread
    /// The membership of the event's user in the event's channel.
    case member

    /// The maximum number of events in a page with included objects. All objects of one event take up to 150 KiB.
    public static let pageMost = 100

    /// Reads a list of names, which may contain duplicates.
    ///
    /// - Returns: the objects; for a list with an unknown name no objects, and the index of the first such name.
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

    /// The accepted names, for the text of an error.
    public static let choices = "'user', 'channel', 'thread' or 'member'"
}

/// The objects that a reader gets with events, and the rights that determine their content.
///
/// Readers with equal policies get the same bytes for the same event.
public struct IncludePolicy: Hashable, Sendable {
    /// The reader, as far as it determines the content of the objects.
    enum Reader: Hashable, Sendable {
        /// A program of the app. It sees every field of users, and every channel that its patterns cover.
        case app
        /// Any of several users who may receive events of the same channels. Sees the public fields of every user.
        case anyUser
        /// One user. Sees every field of its own record, the public fields of others, and the channels that it may know
        /// of.
        case user(ExactText)
    }

    /// At least one.
    public let objects: Set<IncludedObject>
    let reader: Reader

    private init(_ objects: Set<IncludedObject>, for reader: Reader) {
        self.objects = objects
        self.reader = reader
    }

    /// The policy of a webhook or a pull subscription; nil for an empty set.
    public static func ofApp(_ objects: Set<IncludedObject>) -> IncludePolicy? {
        objects.isEmpty ? nil : IncludePolicy(objects, for: .app)
    }

    /// Makes the policy of a caller.
    ///
    /// - Parameters:
    ///   - objects: the result is nil for an empty set.
    ///   - selection: what the caller follows, when the same bytes go to every caller that follows it; nil for a
    ///     response to the caller alone.
    init?(_ objects: Set<IncludedObject>, for caller: Caller, following selection: Selection?) {
        guard !objects.isEmpty else { return nil }
        let reader: Reader =
            if let viewer = selection?.viewer {
                .user(ExactText(viewer.user))
            } else if let user = caller.user {
                selection == nil ? .user(ExactText(user)) : .anyUser
            } else {
                // A user holds a ticket, but the ticket does not say which user.
                caller.proof == nil ? .app : .anyUser
            }
        self.init(objects, for: reader)
    }
}

extension ChatAccess {
    /// Returns the policy by which the caller gets objects with events.
    ///
    /// - Parameters:
    ///   - objects: the result is nil for an empty set.
    ///   - selection: what the caller follows, for a stream, whose bytes are shared; nil for a response to the caller
    ///     alone.
    public func inclusion(
        of objects: Set<IncludedObject>, following selection: Selection? = nil
    ) -> IncludePolicy? {
        IncludePolicy(objects, for: caller, following: selection)
    }
}
