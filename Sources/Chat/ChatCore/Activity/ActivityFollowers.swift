import ChatModel

/// An index of the followers of the event type `channel.activity`, by channel. A follower is a stream, poll or
/// listener, or a webhook or subscription of an app.
///
/// A stream or poll that has ended still counts as a follower for ``grace``, because its client may return and read
/// missed events. Between two polls, a polling client is not attached to the hub.
struct ActivityFollowers {
    /// The time for which a stream or poll still counts as a follower after it has ended. The grace is longer than the
    /// default lifetime of ephemeral events (120 s) and the default duration of a poll of the native API (25 s).
    static let grace: Duration = .seconds(150)

    private struct Follower {
        let number: UInt32
        /// The follower's selection without types and filter, because these do not restrict its channels.
        let selection: Selection
        /// For the stream of a user's device, the channels under which the index lists the stream; nil for any other
        /// follower.
        var channels: Set<ExactText>?
        /// The time at which the follower ended; nil while the follower is attached to the hub, which distributes new
        /// events.
        var end: ContinuousClock.Instant?
    }

    /// The maximum number of ended followers to store. The followers that ended first are removed first.
    private let endedMost: Int
    private var streams: [AppID: SelectionIndex] = [:]
    private var followers: [Selection: Follower] = [:]
    private var ended: [(selection: Selection, end: ContinuousClock.Instant)] = []
    private var free: [UInt32] = []
    private var webhooks: [AppID: SelectionIndex] = [:]

    init(endedMost: Int) { self.endedMost = endedMost }

    var isEmpty: Bool { followers.isEmpty && webhooks.isEmpty }

    /// Adds a follower: the streams, polls and listeners with this selection, which are attached to the hub.
    ///
    /// - Parameter channels: for the stream of a user's device (a selection with a viewer), the channels under which
    ///   the hub lists the selection; nil for any other selection.
    mutating func insert(_ selection: Selection, on channels: Set<ExactText>?) {
        remove(selection)
        let bare = Selection(channels: selection.channels, viewer: selection.viewer, isOfUser: selection.isOfUser)
        let number = free.popLast() ?? UInt32(followers.count)
        followers[selection] = Follower(number: number, selection: bare, channels: channels)
        let app = selection.channels.app
        if let channels {
            streams[app, default: SelectionIndex()].insert(number, bare, on: channels)
        } else {
            streams[app, default: SelectionIndex()].insert(number, bare)
        }
    }

    mutating func extend(_ selection: Selection, to channel: ExactText) {
        guard let follower = followers[selection], follower.channels?.contains(channel) == false else { return }
        followers[selection]?.channels?.insert(channel)
        streams[selection.channels.app]?.insert(follower.number, follower.selection, on: [channel])
    }

    mutating func narrow(_ selection: Selection, from channel: ExactText) {
        guard let follower = followers[selection], follower.channels?.contains(channel) == true else { return }
        followers[selection]?.channels?.remove(channel)
        streams[selection.channels.app]?.remove(follower.number, follower.selection, on: [channel])
    }

    /// Marks the follower with this selection as ended. The ended stream, poll or listener still counts as a follower
    /// for ``grace``, because its client may return.
    mutating func end(_ selection: Selection, now: ContinuousClock.Instant = .now) {
        guard followers[selection] != nil else { return }
        followers[selection]?.end = now
        ended.append((selection, now))
        forgetEnded(now: now)
    }

    /// Removes the followers that ended at least ``grace`` ago. If more than ``endedMost`` ended followers remain, also
    /// removes those that ended first.
    mutating func forgetEnded(now: ContinuousClock.Instant = .now) {
        var over = 0
        while over < ended.count, ended.count - over > endedMost || ended[over].end + Self.grace <= now {
            let (selection, end) = ended[over]
            // A follower that has returned is attached again or has a later end time, and is not removed.
            if followers[selection]?.end == end { remove(selection) }
            over += 1
        }
        if over > 0 { ended.removeFirst(over) }
    }

    private mutating func remove(_ selection: Selection) {
        guard let follower = followers.removeValue(forKey: selection) else { return }
        let app = selection.channels.app
        if let channels = follower.channels {
            streams[app]?.remove(follower.number, follower.selection, on: channels)
        } else {
            streams[app]?.remove(follower.number, follower.selection)
        }
        free.append(follower.number)
        if streams[app]?.isEmpty == true { streams[app] = nil }
        if followers.isEmpty { free = [] }
    }

    /// Sets the channels of the webhooks and subscriptions of an app. Pass only the channels of webhooks and
    /// subscriptions that select the type `channel.activity` by name.
    mutating func setWebhooks(_ channels: [ChannelSet], of app: AppID) {
        guard !channels.isEmpty else { return webhooks[app] = nil }
        var index = SelectionIndex()
        for (number, channels) in channels.enumerated() { index.insert(UInt32(number), Selection(channels: channels)) }
        webhooks[app] = index
    }

    /// Returns true when a follower selects the channel of the event.
    func follow(_ event: Event) -> Bool {
        let app = event.channel.app
        guard streams[app] != nil || webhooks[app] != nil else { return false }
        let subject = FilterSubject(event)
        var isFollowed = false
        streams[app]?.visit(subject) { _ in isFollowed = true }
        if !isFollowed { webhooks[app]?.visit(subject) { _ in isFollowed = true } }
        return isFollowed
    }
}
