import ChatCore
import ChatModel
import JSON

/// The channels of a presence call: the channels that the request names, and the channels of the groups that the
/// request names.
struct PresenceTarget: Sendable {
    /// All channels, in the order: named channels, then channels of groups. Wildcards and presence channels are left
    /// out, because no user can be present on them.
    let channels: [String]
    let hasGroups: Bool
    /// The channels of each named group, without presence channels. Groups with the suffix `-pnpres` are left out.
    private let groups: [ExactText: [String]]
    private let named: [String]

    /// Creates the target from the channels and the groups that a request names.
    ///
    /// - Throws: `WireError.unreadable` for more channels and groups than `Limits.streamChannels`; `.malformed` for an
    ///   invalid channel name.
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

    /// The channel of a request that names exactly one channel and no group; nil for other requests. Some responses
    /// have a special form for such a request.
    var single: String? { named.count == 1 && !hasGroups ? named[0] : nil }

    /// Parses the parameter `state`: a JSON object that contains a state for each channel or group. The state of a
    /// group becomes the state of each of its channels.
    ///
    /// Text that cannot be parsed, states that are not objects, and channels outside this target are ignored.
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
    /// The presence timeout that the request announces: the parameter `heartbeat` in seconds, limited to 2...86 400.
    /// Nil if the parameter is absent or not positive.
    var heartbeat: Duration? {
        guard let seconds = self["heartbeat"].flatMap({ Int($0) }), seconds > 0 else { return nil }
        return .seconds(min(max(seconds, 2), 86_400))
    }

    /// The acting user.
    ///
    /// - Throws: `WireError.missingUser` when the request has no `uuid`.
    func requireUser() throws -> String {
        guard let user = try user() else { throw WireError.missingUser }
        return user
    }
}
