import ChatModel

/// An index that finds the selections that may match an event of one app: by the event's channel, and among the
/// selections of the same channel by the values that their types and filters require.
///
/// Members are numbers. A member that is found must still be tested; a member that is not found does not match the
/// event.
public struct SelectionIndex: Sendable {
    private var named: [ExactText: ChannelSubscribers] = [:]
    private var below: [ExactText: ChannelSubscribers] = [:]
    private var everywhere = ChannelSubscribers()
    private var indexes = FieldIndexes()

    /// An index without selections.
    public init() {}

    /// True when the index contains no selection.
    public var isEmpty: Bool { named.isEmpty && below.isEmpty && everywhere.isEmpty }

    /// - Parameter member: a number that is not used in this index, below `UInt32.max`.
    public mutating func insert(_ member: UInt32, _ selection: Selection) {
        let requirement = selection.requirement
        let channels = selection.indexedChannels
        for name in channels.names {
            indexes.insert(member, requirement, into: &named[name, default: ChannelSubscribers()])
        }
        for prefix in channels.prefixes {
            indexes.insert(member, requirement, into: &below[prefix, default: ChannelSubscribers()])
        }
        if channels.isAll { indexes.insert(member, requirement, into: &everywhere) }
    }

    /// - Parameter selection: the selection that it was inserted with.
    public mutating func remove(_ member: UInt32, _ selection: Selection) {
        let requirement = selection.requirement
        let channels = selection.indexedChannels
        for name in channels.names { indexes.remove(member, requirement, from: &named[name]) }
        for prefix in channels.prefixes { indexes.remove(member, requirement, from: &below[prefix]) }
        if channels.isAll {
            var subscribers: ChannelSubscribers? = everywhere
            indexes.remove(member, requirement, from: &subscribers)
            everywhere = subscribers ?? ChannelSubscribers()
        }
    }

    /// Inserts a member on these channels only, regardless of the selection's channels.
    mutating func insert(_ member: UInt32, _ selection: Selection, on names: Set<ExactText>) {
        let requirement = selection.requirement
        for name in names { indexes.insert(member, requirement, into: &named[name, default: ChannelSubscribers()]) }
    }

    mutating func remove(_ member: UInt32, _ selection: Selection, on names: Set<ExactText>) {
        let requirement = selection.requirement
        for name in names { indexes.remove(member, requirement, from: &named[name]) }
    }

    /// Calls `body` once for each member that may match the event. A member is found once, because a selection is not
    /// indexed under a channel that another of its parts covers.
    public func visit(_ subject: FilterSubject, _ body: (UInt32) -> Void) {
        if let channel = subject.event?.channel { visit(subject, on: channel, body) }
    }

    /// The same, as if the event were on that channel.
    func visit(_ subject: FilterSubject, on channel: ChannelID, _ body: (UInt32) -> Void) {
        if let subscribers = named[ExactText(channel.name)] { indexes.visit(subscribers, subject, body) }
        if !channel.isSystem { indexes.visit(everywhere, subject, body) }
        guard !below.isEmpty else { return }
        for prefix in DottedPrefixes(of: channel.name) {
            if let subscribers = below[prefix] { indexes.visit(subscribers, subject, body) }
        }
    }
}

/// The subscribers of one channel. Small, because there may be a million: the first subscriber, and the place of the
/// others.
private struct ChannelSubscribers: Sendable {
    static let none = UInt32.max

    var first = ChannelSubscribers.none
    var rest = ChannelSubscribers.none

    var isEmpty: Bool { first == Self.none && rest == Self.none }
}

/// The indexes of channels with more than one subscriber.
private struct FieldIndexes: Sendable {
    private var indexes: [FieldIndex] = []
    private var free: [UInt32] = []

    mutating func insert(_ member: UInt32, _ requirement: Requirement?, into subscribers: inout ChannelSubscribers) {
        if subscribers.isEmpty {
            subscribers.first = member
            return
        }
        if subscribers.rest == ChannelSubscribers.none {
            subscribers.rest = free.popLast() ?? UInt32(indexes.count)
            if subscribers.rest == indexes.count { indexes.append(FieldIndex()) }
        }
        indexes[Int(subscribers.rest)].insert(member, requirement)
    }

    mutating func remove(_ member: UInt32, _ requirement: Requirement?, from subscribers: inout ChannelSubscribers?) {
        guard var left = subscribers else { return }
        if left.first == member {
            left.first = ChannelSubscribers.none
        } else if left.rest != ChannelSubscribers.none {
            indexes[Int(left.rest)].remove(member, requirement)
            if indexes[Int(left.rest)].isEmpty {
                free.append(left.rest)
                left.rest = ChannelSubscribers.none
            }
        }
        subscribers = left.isEmpty ? nil : left
    }

    func visit(_ subscribers: ChannelSubscribers, _ subject: FilterSubject, _ body: (UInt32) -> Void) {
        if subscribers.first != ChannelSubscribers.none { body(subscribers.first) }
        if subscribers.rest != ChannelSubscribers.none { indexes[Int(subscribers.rest)].visit(subject, body) }
    }
}

/// The texts before the star of all patterns that match a name: every prefix that ends with a dot and is not the whole
/// name.
struct DottedPrefixes: Sequence, IteratorProtocol {
    // Bytes, as patterns are matched: a dot followed by a combining mark is not a `Character` of its own.
    private let bytes: String.UTF8View
    private var end: String.Index

    init(of name: String) {
        bytes = name.utf8
        end = bytes.startIndex
    }

    mutating func next() -> ExactText? {
        guard let dot = bytes[end...].firstIndex(of: UInt8(ascii: ".")) else { return nil }
        end = bytes.index(after: dot)
        return end < bytes.endIndex ? ExactText(Substring(bytes[..<end])) : nil
    }
}
