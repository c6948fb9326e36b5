public import ChatModel

/// A message that was sent elsewhere, with what was attached to it there: to be moved here as it was.
public struct ImportMessage: Sendable {
    /// What somebody attached to it: a reaction, an edit (`edited`), a deletion (`deleted`), the channel of its thread
    /// (`threadRootId`), or something of the app's own.
    public struct Action: Sendable {
        public var type: String
        public var value: String
        public var user: String
        public var at: Timetoken

        public init(type: String, value: String, user: String, at: Timetoken) {
            self.type = type
            self.value = value
            self.user = user
            self.at = at
        }
    }

    /// Of one message at a time: the store looks them all up at once. More follow with the same message.
    static let actionsMost = 1000

    public var emission: Emission
    /// When it was sent: its timetoken there and here.
    public var at: Timetoken
    public var actions: [Action]

    public init(_ emission: Emission, at: Timetoken, actions: [Action] = []) {
        self.emission = emission
        self.at = at
        self.actions = actions
    }
}

/// What became of something that was to be moved here.
public struct ImportResult: Sendable {
    /// False: it was here before.
    public var isNew: Bool
    /// A message's place here: its own, unless another event had that. Nil for anything else.
    public var place: Timetoken?
    /// How much was attached to a message by it.
    public var attached = 0

    init(isNew: Bool, place: Timetoken? = nil) {
        self.isNew = isNew
        self.place = place
    }
}
