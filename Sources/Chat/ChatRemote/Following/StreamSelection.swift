import ChatKit
import ChatModel
import GatewayClient

/// The part of a shared stream that a listener receives.
struct ListenerSelection: Sendable {
    /// The channels; nil selects every channel of the stream.
    private let channels: [NamePattern]?
    /// The event types; empty selects every type.
    private let types: [NamePattern]

    init(_ selection: EventSelection) {
        let isByName = StreamKey(selection).scope == .named
        channels = isByName ? selection.channels.compactMap { NamePattern($0) } : nil
        types = selection.types.isEmpty ? [.all] : selection.types.compactMap { NamePattern($0) }
    }

    /// Returns true when the followed patterns cover every selected channel.
    func isCovered(by followed: [NamePattern]) -> Bool {
        followed.coversAll(channels ?? [])
    }

    func admits(_ event: LiveEvent) -> Bool {
        (channels?.match(event.channel.name) ?? true) && types.contains { $0.selects(type: event.type) }
    }
}

/// The properties that listeners must have in common to share a stream.
struct StreamKey: Hashable, Sendable {
    enum Scope: Hashable, Sendable {
        /// The channels that its listeners name.
        case named
        /// No channel is named: the stream follows what concerns the device's user, or everything the credential may
        /// read.
        case everything
        /// Channel groups and channels. A change of the channels would stop following the groups.
        case groups([String], channels: [String])
    }

    let isDevice: Bool
    let filter: String?
    let include: Set<IncludedObject>
    let scope: Scope

    init(_ selection: EventSelection) {
        isDevice = selection.isDevice
        filter = selection.filter
        include = selection.include
        scope =
            if !selection.groups.isEmpty {
                .groups(selection.groups, channels: selection.channels)
            } else {
                selection.channels.isEmpty ? .everything : .named
            }
    }
}

/// The selection of a shared stream: the union of its listeners' selections.
struct StreamSelection: Equatable, Sendable {
    /// The channels, when listeners name channels.
    private(set) var channels: Set<ExactText> = []
    /// The types; contains `*` when a listener names none.
    private var types: Set<ExactText> = []

    init(_ selections: some Sequence<EventSelection>) {
        for selection in selections {
            channels.formUnion(selection.channels.map { ExactText($0) })
            types.formUnion((selection.types.isEmpty ? ["*"] : selection.types).map { ExactText($0) })
        }
    }

    var channelNames: [String] { channels.sorted().map(\.text) }
    /// The type names of the request. `*` covers all types but those that must be named.
    var typeNames: [String] {
        let isEvery = types.contains(ExactText("*"))
        return types.sorted().map(\.text).filter { !isEvery || $0 == "*" || BuiltInTypes.namedOnly.contains($0) }
    }
}

extension RequestPath {
    /// Returns the path and query of a stream or poll.
    func following(_ events: StreamSelection, _ key: StreamKey, _ device: (user: String, id: String)) -> RequestPath {
        var path = self
        switch key.scope {
        case .named: path = path.adding("channel", each: events.channelNames)
        case .everything: break
        case .groups(let groups, let channels):
            path = path.adding("channel", each: channels).adding("group", each: groups)
        }
        let types = events.typeNames
        // No type parameter selects every type that the credential may read.
        path = path.adding("type", each: types == ["*"] ? [] : types).adding("filter", key.filter)
        let include = IncludedObject.allCases.filter(key.include.contains).map(\.rawValue)
        path = path.adding("include", include.isEmpty ? nil : include.joined(separator: ","))
        return key.isDevice ? path.adding("user", device.user).adding("device", device.id) : path
    }
}
