import ChatKit
import ChatModel
import GatewayClient

/// The part of a shared stream's events that one listener receives.
struct ListenerSelection: Sendable {
    /// The channels; nil selects every channel of the stream.
    private let channels: [NamePattern]?
    /// The event types; `*` for a selection without types.
    private let types: [NamePattern]

    init(_ selection: EventSelection) {
        let isByName = StreamKey(selection).scope == .named
        channels = isByName ? selection.channels.compactMap { NamePattern($0) } : nil
        types = selection.types.isEmpty ? [.all] : selection.types.compactMap { NamePattern($0) }
    }

    /// Returns true when the patterns `followed` of the stream cover every channel of the listener.
    func isCovered(by followed: [NamePattern]) -> Bool {
        followed.coversAll(channels ?? [])
    }

    func admits(_ event: LiveEvent) -> Bool {
        (channels?.match(event.channel.name) ?? true) && types.contains { $0.selects(type: event.type) }
    }
}

/// The properties that must be equal for listeners to share a stream.
struct StreamKey: Hashable, Sendable {
    enum Scope: Hashable, Sendable {
        /// The stream follows exactly the channels and patterns that its listeners name.
        case named
        /// The listeners name no channel. The stream follows the events for the device's user or, without a device,
        /// everything that the credential may read.
        case everything
        /// The stream follows channel groups and channels. The stream's selection cannot be changed, because a change
        /// would remove the groups.
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
    /// The names and patterns of channels; empty when the listeners name none.
    private(set) var channels: Set<ExactText> = []
    /// The names and patterns of event types; contains `*` when a listener selects all types.
    private var types: Set<ExactText> = []

    init(_ selections: some Sequence<EventSelection>) {
        for selection in selections {
            channels.formUnion(selection.channels.map { ExactText($0) })
            types.formUnion((selection.types.isEmpty ? ["*"] : selection.types).map { ExactText($0) })
        }
    }

    var channelNames: [String] { channels.sorted().map(\.text) }
    /// The names and patterns of event types to send in the request, sorted. When `*` is selected, only `*` and the
    /// selected types that `*` does not include (``BuiltInTypes/namedOnly``) are sent.
    var typeNames: [String] {
        let isEvery = types.contains(ExactText("*"))
        return types.sorted().map(\.text).filter { !isEvery || $0 == "*" || BuiltInTypes.namedOnly.contains($0) }
    }
}

extension RequestPath {
    /// Returns this path with the query parameters of a stream or poll that has the given selection.
    func following(_ events: StreamSelection, _ key: StreamKey, _ device: (user: String, id: String)) -> RequestPath {
        var path = self
        switch key.scope {
        case .named: path = path.adding("channel", each: events.channelNames)
        case .everything: break
        case .groups(let groups, let channels):
            path = path.adding("channel", each: channels).adding("group", each: groups)
        }
        let types = events.typeNames
        // A request without the parameter `type` selects every type that the credential may read.
        path = path.adding("type", each: types == ["*"] ? [] : types).adding("filter", key.filter)
        let include = IncludedObject.allCases.filter(key.include.contains).map(\.rawValue)
        path = path.adding("include", include.isEmpty ? nil : include.joined(separator: ","))
        return key.isDevice ? path.adding("user", device.user).adding("device", device.id) : path
    }
}
