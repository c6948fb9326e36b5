import ChatModel
public import JSON

/// Something to be put into a channel.
public struct OutgoingMessage: Sendable {
    public enum Form: Sendable, Equatable {
        /// A chat message: any JSON.
        case message
        /// An event of a type of one's own; `custom` without one.
        case event(type: String?)
        /// Small and ephemeral.
        case signal
        /// For webhooks alone: no subscriber sees it, and history does not have it.
        case fire
    }

    public var channel: String
    public var form: Form
    public var data: JSONText
    public var meta: JSONText?
    /// A label of a message or signal.
    public var customType: String?
    /// Whether history keeps it. Signals and fires never are.
    public var isStored = true
    /// Shortens how long it is kept.
    public var hours: Int?

    public init(_ form: Form, on channel: String, data: JSONText) {
        self.form = form
        self.channel = channel
        self.data = data
    }
}
