import ChatCore
import ChatModel
import JSON

/// Where a presence call is about: its channels, and those of the groups it names.
struct PresenceTarget: Sendable {
    /// Named ones first; none of them a wildcard or a presence channel, on which nobody can be.
    let channels: [String]
    let hasGroups: Bool
    /// What each group holds that is not asked for its presence alone.
    private let groups: [ExactText: [String]]
    private let named: [String]

    /// - Throws: `unreadable` for a name that cannot be.
    init(_ names: [String], _ held: GroupChannels, _ limits: Limits) throws {
        guard names.count + held.names.count <= limits.streamChannels else { throw WireError.unreadable }
        named = names.filter { !$0.hasSuffix(String.presenceSuffix) && !$0.contains("*") }
        for name in named { try Names.check(channel: name) }
        var groups: [ExactText: [String]] = [:]
        var channels = named
        for name in held.names where !name.hasSuffix(String.presenceSuffix) {
            let present = (held[name] ?? []).filter { !$0.hasSuffix(String.presenceSuffix) }
            groups[ExactText(name)] = present
            channels += present
        }
        self.groups = groups
        hasGroups = !held.names.isEmpty
        self.channels = channels.filter { $0 != ChannelID.systemName }.withoutRepeats
    }

    /// Whether it is about one channel and says so: some answers have a form for that.
    var single: String? { named.count == 1 && !hasGroups ? named[0] : nil }

    /// What a `state` says of these channels: an object of states by channel or group. What cannot be read says nothing.
    func states(_ text: String?, _ limits: Limits) -> [(channel: String, state: JSONText)] {
        guard let text, let states = WirePayload(Array(text.utf8), depth: limits.jsonDepth),
            states.value.kind == .object
        else { return [] }
        let here = Set(channels.map { ExactText($0) })
        return (states.text.rawMembers() ?? []).flatMap { name, state in
            (groups[ExactText(name)] ?? [name]).map { (channel: $0, state: state) }
        }.filter { $0.state.bytes.first == UInt8(ascii: "{") && here.contains(ExactText($0.channel)) }
    }
}

extension WireRequest {
    /// For how long a sign of life is good.
    func heartbeat(_ limits: Limits) -> Duration {
        guard let seconds = self["heartbeat"].flatMap({ Int($0) }), seconds > 0 else { return limits.presenceAge }
        return .seconds(min(max(seconds, 2), 86_400))
    }

    /// - Throws: `missingUser`: some calls mean nothing without one.
    func demandUser() throws -> String {
        guard let user = try user() else { throw WireError.missingUser }
        return user
    }
}
