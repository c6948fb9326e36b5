import ChatModel
import JSON

/// A change of memberships, channels or blocks that an event describes.
///
/// Only events that the gateway's own operations have written are used. These events have an audience rule; events of
/// the same types that clients publish have no audience rule.
struct MembershipEvent: Sendable {
    enum Change: Sendable {
        case step(MembershipTransition, users: [ExactText])
        /// The channel was created or changed, and has a record now.
        case created(isPrivate: Bool)
        /// The channel was deleted. All users' relations to it end.
        case deleted
        /// A user has blocked another user (`isOn`), or has removed the block.
        case block(ExactText, of: ExactText, isOn: Bool)
    }

    let app: AppID
    let channel: ExactText
    let change: Change
    let timetoken: Timetoken

    var id: ChannelID { ChannelID(channel.text, in: app) }

    /// Creates the change that an event describes. Returns nil for most events, because they change no membership.
    init?(_ event: Event) {
        guard case .rule = event.audience, let change = Self.change(of: event) else { return nil }
        app = event.channel.app
        channel = ExactText(event.channel.name)
        self.change = change
        timetoken = event.timetoken
    }

    private static func change(of event: Event) -> Change? {
        switch event.type {
        case "member.invited": invitation(event)
        case "member.joined": step(.joined, event) { users($0["users"]) ?? users($0["user"]) }
        case "member.left": step(.left, event) { users($0["user"]) }
        case "member.declined": step(.left, event) { users($0["invitee"]) }
        case "participant.entered": step(.entered, event) { users($0["user"]) }
        case "participant.exited": step(.exited, event) { users($0["user"]) }
        case "user.banned": step(.banned, event) { $0["restriction"]?["user"]?.string.map { [ExactText($0)] } }
        case "user.unbanned": step(.unbanned, event) { $0["restriction"]?["user"]?.string.map { [ExactText($0)] } }
        // An update may change the kind of the channel, for example from private to public.
        case "channel.created", "channel.updated": creation(event)
        case "channel.deleted": .deleted
        case "user.blocked": block(event, isOn: true)
        case "user.unblocked": block(event, isOn: false)
        default: nil
        }
    }

    /// Returns the change of an invitation. The event is stored on the channel, and again on each invited user's own
    /// channel. Only the event on the channel counts.
    private static func invitation(_ event: Event) -> Change? {
        step(.invited, event) { data in
            guard data["channel"]?["id"]?.string.map({ ExactText($0) }) == ExactText(event.channel.name) else {
                return nil
            }
            return users(data["invitees"])
        }
    }

    private static func block(_ event: Event, isOn: Bool) -> Change? {
        guard let block = (try? JSONDocument(event.data))?.root["block"], let user = block["user"]?.string,
            let other = block["blocked"]?.string
        else { return nil }
        return .block(ExactText(other), of: ExactText(user), isOn: isOn)
    }

    private static func creation(_ event: Event) -> Change? {
        guard let data = try? JSONDocument(event.data).root else { return nil }
        let kind = data["channel"]?["kind"]?.string.flatMap { ChannelKind(rawValue: $0) }
        return .created(isPrivate: kind?.isPrivate ?? false)
    }

    private static func step(
        _ step: MembershipTransition, _ event: Event, _ read: (JSONValue) -> [ExactText]?
    ) -> Change? {
        guard let data = try? JSONDocument(event.data).root, let users = read(data), !users.isEmpty else { return nil }
        return .step(step, users: users)
    }

    /// Returns the ids in an object with one user or in a list of users; nil for any other value.
    private static func users(_ value: JSONValue?) -> [ExactText]? {
        guard let value else { return nil }
        if let one = value["id"]?.string { return [ExactText(one)] }
        return value.elements?.compactMap { $0["id"]?.string.map { ExactText($0) } }
    }
}
