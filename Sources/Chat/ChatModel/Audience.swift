/// Who may see an event on a stream opened as a user's device (`events.md` 4). Kept with the event, never printed.
///
/// Webhooks, and streams and history of services, do not ask. A user's own credential does, also where it listens or reads
/// as nobody: see `Selection.isOfUser` and `Event.isReadable(by:)`.
public enum Audience: Hashable, Sendable {
    /// Everyone allowed on the channel.
    case subscribers
    /// What `subscribers` are on a channel that is for its members: those who have joined it.
    case insiders
    /// No stream, poll or listener; webhooks do (fire).
    case webhooks
    /// Readers of another service's wire alone. All other readers and webhooks get the same fact by another event.
    case wire
    /// - Parameter subjects: the users the rule speaks of beside the members: who joined, who is mentioned.
    case rule(AudienceRule, subjects: [String] = [])
}

/// A set of devices by its name (`sendbird.md` 1.2 and 7), evaluated when the event commits. For a change of membership it is
/// the union of what it is before and after.
public enum AudienceRule: String, Sendable, CaseIterable {
    /// Devices inside an open channel.
    case participants
    case participantsButOrigin = "participants-origin_device"
    case participantsAndSubjects = "participants+subject"
    /// Devices of members that have joined.
    case joined = "members.joined"
    case joinedButOrigin = "members.joined-origin_device"
    case joinedAndSubjects = "members.joined+subject"
    case joinedButSubjects = "members.joined-subject_user"
    /// The subjects are the authors of the thread.
    case joinedAndThreadButOrigin = "members.joined+thread-origin_device"
    /// Devices of members, the invited ones too.
    case members = "members.all"
    case membersButOrigin = "members.all-origin_device"
    /// The subjects' devices, as far as they are members or inside.
    case mentioned
    case mentionedButOrigin = "mentioned-origin_device"
    /// All devices of the subjects.
    case user
    /// The device the call came from, and no other.
    case device
    /// Devices whose channel list holds the channel: of members, and of those inside or subscribed by name; and
    /// the subjects' devices.
    case channelList = "channel_list"
}
