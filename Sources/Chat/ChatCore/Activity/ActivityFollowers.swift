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

    private enum Key: Hashable {
        case stream(Selection)
        case webhook(SubscriberID)
    }

    private struct Follower {
        /// The follower's number in the index of its app. All apps share the numbers.
        let number: UInt32
        /// The follower's selection without types and filter, because these do not restrict its channels.
        let selection: Selection
        /// For the stream of a user's device, the channels under which the index lists the stream; nil for any other
        /// follower.
        var channels: Set<ExactText>?
        /// The time at which a stream, poll or listener ended; nil while it is attached to the hub, which distributes new
        /// events. Always nil for a webhook or subscription.
        var end: ContinuousClock.Instant?
    }

    /// The maximum number of ended followers to store. The followers that ended first are removed first.
    private let endedMost: Int
    private var indexes: [AppID: SelectionIndex] = [:]
    private var followers: [Key: Follower] = [:]
    private var ended: [(selection: Selection, end: ContinuousClock.Instant)] = []
    private var free: [UInt32] = []

    init(endedMost: Int) { self.endedMost = endedMost }

    var isEmpty: Bool { followers.isEmpty }

    /// Adds a follower: the streams, polls and listeners with this selection, which are attached to the hub.
    ///
    /// - Parameter channels: for the stream of a user's device (a selection with a viewer), the channels under which
    ///   the hub lists the selection; nil for any other selection.
    mutating func insert(_ selection: Selection, on channels: Set<ExactText>?) {
        insert(
            .stream(selection),
            Selection(channels: selection.channels, viewer: selection.viewer, isOfUser: selection.isOfUser),
            on: channels)
    }

    /// Adds a webhook or subscription, or changes its channels.
    ///
    /// - Parameter channels: the channels of the webhook or subscription, if it receives events and selects the type
    ///   `channel.activity` by name; otherwise nil.
    mutating func setWebhook(_ channels: ChannelSet?, of subscriber: SubscriberID) {
        guard let channels else { return remove(.webhook(subscriber)) }
        insert(.webhook(subscriber), Selection(channels: channels), on: nil)
    }

    private mutating func insert(_ key: Key, _ selection: Selection, on channels: Set<ExactText>?) {
        remove(key)
        let number = free.popLast() ?? UInt32(followers.count)
        followers[key] = Follower(number: number, selection: selection, channels: channels)
        let app = selection.channels.app
        if let channels {
            indexes[app, default: SelectionIndex()].insert(number, selection, on: channels)
        } else {
            indexes[app, default: SelectionIndex()].insert(number, selection)
        }
    }

    mutating func extend(_ selection: Selection, to channel: ExactText) {
        let key = Key.stream(selection)
        guard let follower = followers[key], follower.channels?.contains(channel) == false else { return }
        followers[key]?.channels?.insert(channel)
        indexes[selection.channels.app]?.insert(follower.number, follower.selection, on: [channel])
    }

    mutating func narrow(_ selection: Selection, from channel: ExactText) {
        let key = Key.stream(selection)
        guard let follower = followers[key], follower.channels?.contains(channel) == true else { return }
        followers[key]?.channels?.remove(channel)
        indexes[selection.channels.app]?.remove(follower.number, follower.selection, on: [channel])
    }

    /// Marks the follower with this selection as ended. The ended stream, poll or listener still counts as a follower
    /// for ``grace``, because its client may return.
    mutating func end(_ selection: Selection, now: ContinuousClock.Instant = .now) {
        guard followers[.stream(selection)] != nil else { return }
        followers[.stream(selection)]?.end = now
        ended.append((selection, now))
        forgetEnded(now: now)
    }

    /// Removes the followers that ended at least ``grace`` ago. If more than ``endedMost`` ended followers remain, also
    /// removes those that ended first.
    mutating func forgetEnded(now: ContinuousClock.Instant = .now) {
        var over = 0
        while over < ended.count, ended.count - over > endedMost || ended[over].end + Self.grace <= now {
            let (key, end) = (Key.stream(ended[over].selection), ended[over].end)
            // A follower that has returned is attached again or has a later end time, and is not removed.
            if followers[key]?.end == end { remove(key) }
            over += 1
        }
        if over > 0 { ended.removeFirst(over) }
    }

    private mutating func remove(_ key: Key) {
        guard let follower = followers.removeValue(forKey: key) else { return }
        let app = follower.selection.channels.app
        if let channels = follower.channels {
            indexes[app]?.remove(follower.number, follower.selection, on: channels)
        } else {
            indexes[app]?.remove(follower.number, follower.selection)
        }
        free.append(follower.number)
        if indexes[app]?.isEmpty == true { indexes[app] = nil }
        if followers.isEmpty { free = [] }
    }

    /// Returns true when a follower selects the channel of the event.
    func follow(_ event: Event) -> Bool {
        guard let index = indexes[event.channel.app] else { return false }
        var isFollowed = false
        index.visit(FilterSubject(event)) { _ in isFollowed = true }
        return isFollowed
    }
}
