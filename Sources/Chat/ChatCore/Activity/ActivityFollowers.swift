import ChatModel

/// The index of all followers of the event type `channel.activity`, by channel: streams, polls and listeners, and the
/// webhooks and subscriptions of each app.
///
/// A stream or poll that has ended still counts for ``grace``, because its client may return and catch up. Between two
/// polls a polling client has nothing attached to the hub.
struct ActivityFollowers {
    /// The time that a follower counts after its end: as long as passing events can be caught up with, and as long as a
    /// poll is held.
    static let grace: Duration = .seconds(150)

    private struct Follower {
        let number: UInt32
        /// The selection without types and filter, which do not restrict the channels.
        let selection: Selection
        /// For a device's stream, the channels under which the index finds it.
        var channels: Set<ExactText>?
        /// The time at which the follower ended; nil while it is attached.
        var end: ContinuousClock.Instant?
    }

    /// The maximum number of ended followers that are kept. The oldest are dropped first.
    private let endedMost: Int
    private var streams: [AppID: SelectionIndex] = [:]
    private var followers: [Selection: Follower] = [:]
    private var ended: [(selection: Selection, end: ContinuousClock.Instant)] = []
    private var free: [UInt32] = []
    private var webhooks: [AppID: SelectionIndex] = [:]

    init(endedMost: Int) { self.endedMost = endedMost }

    var isEmpty: Bool { followers.isEmpty && webhooks.isEmpty }

    /// Adds a feed of the hub.
    ///
    /// - Parameter channels: for a selection with a viewer, the channels under which the hub finds it.
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

    /// Marks a feed as ended. It may return within ``grace``.
    mutating func end(_ selection: Selection, now: ContinuousClock.Instant = .now) {
        guard followers[selection] != nil else { return }
        followers[selection]?.end = now
        ended.append((selection, now))
        forgetEnded(now: now)
    }

    /// Removes the followers whose ``grace`` is over.
    mutating func forgetEnded(now: ContinuousClock.Instant = .now) {
        var over = 0
        while over < ended.count, ended.count - over > endedMost || ended[over].end + Self.grace <= now {
            let (selection, end) = ended[over]
            // A follower that has returned is kept.
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

    /// Sets the channels of those webhooks and subscriptions of an app that name the type `channel.activity`.
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
