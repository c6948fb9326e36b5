import ChatModel

/// An index that finds the selections that may match an event of one app. It first looks up the event's channel, and
/// then the values that the types and filters of the selections on that channel require.
///
/// The members of the index are numbers, one per selection. The caller must still test the members that it finds. A
/// member that is not found does not match the event.
public struct SelectionIndex: Sendable {
    private var named: [ExactText: ChannelSubscribers] = [:]
    private var below: [ExactText: ChannelSubscribers] = [:]
    private var everywhere = ChannelSubscribers()
    private var indexes = FieldIndexes()

    /// Creates an index without selections.
    public init() {}

    /// True when the index contains no selection.
    public var isEmpty: Bool { named.isEmpty && below.isEmpty && everywhere.isEmpty }

    /// Inserts a selection.
    ///
    /// - Parameter member: a number below `UInt32.max` that no other selection in the index has.
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

    /// Removes a selection.
    ///
    /// - Parameter selection: the selection with which the member was inserted.
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

    /// Inserts a member on the given channels only, and ignores the channels of the selection.
    mutating func insert(_ member: UInt32, _ selection: Selection, on names: Set<ExactText>) {
        let requirement = selection.requirement
        for name in names { indexes.insert(member, requirement, into: &named[name, default: ChannelSubscribers()]) }
    }

    mutating func remove(_ member: UInt32, _ selection: Selection, on names: Set<ExactText>) {
        let requirement = selection.requirement
        for name in names { indexes.remove(member, requirement, from: &named[name]) }
    }

    /// Calls `body` once for each member that may match the event. A member is found once, because a selection is not
    /// listed under a channel that one of its own patterns covers.
    public func visit(_ subject: FilterSubject, _ body: (UInt32) -> Void) {
        if let channel = subject.event?.channel { visit(subject, on: channel, body) }
    }

    /// Calls `body` for each member that would match the event if the event were on `channel`.
    func visit(_ subject: FilterSubject, on channel: ChannelID, _ body: (UInt32) -> Void) {
        if let subscribers = named[ExactText(channel.name)] { indexes.visit(subscribers, subject, body) }
        if !channel.isSystem { indexes.visit(everywhere, subject, body) }
        guard !below.isEmpty else { return }
        for prefix in DottedPrefixes(of: channel.name) {
            if let subscribers = below[prefix] { indexes.visit(subscribers, subject, body) }
        }
    }
}

/// The subscribers of one channel: the number of the first subscriber, and the number of the index that contains the
/// other subscribers. The type is small, because there may be a million channels.
private struct ChannelSubscribers: Sendable {
    static let none = UInt32.max

    var first = ChannelSubscribers.none
    var rest = ChannelSubscribers.none

    var isEmpty: Bool { first == Self.none && rest == Self.none }
}

/// The indexes of the channels with more than one subscriber.
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

/// The prefixes of all patterns `prefix*` that match a name: each prefix of the name that ends with a dot, except the
/// whole name.
struct DottedPrefixes: Sequence, IteratorProtocol {
    // Works on bytes, because a dot followed by a combining mark is not a `Character` of its own.
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
