import ChatKit
import ChatRemote

extension PubNub {
    /// Sets the state of the client's user in channels, and marks the user as present there.
    ///
    /// - Parameter completion: receives the new state.
    public func setPresence(
        state: [String: any JSONCodableScalar], on channels: [String], and groups: [String] = [],
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any JSONCodable, any Error>) -> Void)?
    ) {
        let shown = state.mapValues(\.scalarValue).object
        let seconds = presence.seconds
        run(requestConfig, completion) { backend in
            for channel in try await backend.channels(channels, and: groups) {
                try await backend.appear(in: channel, for: seconds, state: shown)
            }
            return AnyJSON(shown)
        }
    }

    /// Reads the state of a user in channels. Channels in which the user is not present are left out.
    public func getPresenceState(
        for uuid: String, on channels: [String], and groups: [String] = [],
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(uuid: String, stateByChannel: [String: any JSONCodable]), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            var states: [String: any JSONCodable] = [:]
            for channel in try await backend.channels(channels, and: groups) {
                states[channel] = try await backend.presence(of: uuid, in: channel).map { AnyJSON($0.state) }
            }
            return (uuid: uuid, stateByChannel: states)
        }
    }

    /// Reads the users who are present in channels.
    ///
    /// - Parameters:
    ///   - includeUUIDs: false reads only the number of users.
    ///   - includeState: true adds the states of the users.
    ///   - limit: the maximum number of users for each channel, at most 1000.
    ///   - offset: the number of users to skip in each channel; nil selects 0.
    public func hereNow(
        on channels: [String], and groups: [String] = [], includeUUIDs: Bool = true, includeState: Bool = false,
        limit: Int = 1000, offset: Int? = 0, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<[String: any PubNubPresence], any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            let wanted = max(offset ?? 0, 0)..<(max(offset ?? 0, 0) + min(max(limit, 0), 1000))
            var found: [String: any PubNubPresence] = [:]
            for channel in try await backend.channels(channels, and: groups) {
                var users: [PresentUser] = []
                var count = 0
                var cursor: String?
                repeat {
                    let page = try await backend.present(in: channel, limit: includeUUIDs ? 250 : 1, cursor: cursor)
                    users += page.items
                    count = page.total ?? users.count
                    cursor = includeUUIDs && users.count < wanted.upperBound ? page.cursor : nil
                } while cursor != nil
                let shown = includeUUIDs ? users.dropFirst(wanted.lowerBound).prefix(wanted.count) : []
                found[channel] = PubNubPresenceBase(
                    channel: channel, occupancy: count, occupants: shown.map(\.userId),
                    occupantsState: includeState
                        ? Dictionary(shown.map { ($0.userId, AnyJSON($0.state)) }, uniquingKeysWith: { $1 }) : [:])
            }
            return found
        }
    }

    /// Reads the channels in which a user is present.
    ///
    /// - Parameter completion: receives the names of the channels by the user's id.
    public func whereNow(
        for uuid: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<[String: [String]], any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in [uuid: try await backend.presentChannels(of: uuid)] }
    }
}

extension GatewayBackend {
    /// Returns the given channels and the channels of the groups, without duplicates.
    func channels(_ names: [String], and groups: [String]) async throws -> [String] {
        var names = names
        for group in groups { names += try await self.group(group)?.channels ?? [] }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}

/// The presence in a channel.
public protocol PubNubPresence {
    /// The name of the channel.
    var channel: String { get }
    /// The number of present users.
    var occupancy: Int { get set }
    /// The ids of the present users; empty when only their number was read.
    var occupants: [String] { get set }
    /// The states of the present users by user id.
    var occupantsState: [String: any JSONCodable] { get set }
}

/// The presence in a channel, as a value.
public struct PubNubPresenceBase: PubNubPresence {
    public let channel: String
    public var occupancy: Int
    public var occupants: [String]
    public var occupantsState: [String: any JSONCodable]

    /// Creates the presence of a channel, for example in a test.
    public init(channel: String, occupancy: Int, occupants: [String], occupantsState: [String: any JSONCodable]) {
        self.channel = channel
        self.occupancy = occupancy
        self.occupants = occupants
        self.occupantsState = occupantsState
    }
}

extension [String: any PubNubPresence] {
    /// The number of channels.
    public var totalChannels: Int { count }

    /// The sum of the numbers of present users over all channels.
    public var totalOccupancy: Int { values.reduce(0) { $0 + $1.occupancy } }
}
