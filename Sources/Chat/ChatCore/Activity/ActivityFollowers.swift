import ChatModel

/// The index of all followers of the type `channel.activity` by channel: streams, polls and listeners, and the webhooks
/// and subscriptions of each app.
///
/// A stream or poll that ends counts for as long as it may come back and catch up (``grace``): between two polls nobody hangs
/// on the hub.
struct ActivityFollowers {
    /// As long as passing events can be caught up with, and a poll held.
    static let grace: Duration = .seconds(150)

    private struct Follower {
        let number: UInt32
        /// Without types and filter, which say nothing of a channel.
        let selection: Selection
        /// For a device's stream, the channels on which it is found.
        var channels: Set<ExactText>?
        /// When it ended; nil while it is there.
        var end: ContinuousClock.Instant?
    }

    /// The most ended followers that are kept. The oldest are dropped first.
    private let endedMost: Int
    private var streams: [AppID: SelectionIndex] = [:]
    private var followers: [Selection: Follower] = [:]
    private var ended: [(selection: Selection, end: ContinuousClock.Instant)] = []
    private var free: [UInt32] = []
    private var webhooks: [AppID: SelectionIndex] = [:]

    init(endedMost: Int) { self.endedMost = endedMost }

    var isEmpty: Bool { followers.isEmpty && webhooks.isEmpty }

    /// A feed of the hub is there.
    ///
    /// - Parameter channels: of a selection with a viewer, where the hub finds it.
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

    /// The feed is gone, and may come back.
    mutating func end(_ selection: Selection, now: ContinuousClock.Instant = .now) {
        guard followers[selection] != nil else { return }
        followers[selection]?.end = now
        ended.append((selection, now))
        forgetEnded(now: now)
    }

    /// Lets those go that have ended long enough ago.
    mutating func forgetEnded(now: ContinuousClock.Instant = .now) {
        var over = 0
        while over < ended.count, ended.count - over > endedMost || ended[over].end + Self.grace <= now {
            let (selection, end) = ended[over]
            // One that has come back stays.
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

    /// The webhooks and subscriptions of an app that have named the type, by their channels.
    mutating func setWebhooks(_ channels: [ChannelSet], of app: AppID) {
        guard !channels.isEmpty else { return webhooks[app] = nil }
        var index = SelectionIndex()
        for (number, channels) in channels.enumerated() { index.insert(UInt32(number), Selection(channels: channels)) }
        webhooks[app] = index
    }

    /// Whether anybody follows what goes on in the channel of an event.
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
