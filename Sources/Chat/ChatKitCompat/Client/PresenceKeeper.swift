import ChatKit
import ChatRemote
import Locking

/// Sends heartbeats, so that the client's user counts as present on the subscribed channels.
final class PresenceKeeper: Sendable {
    private struct Heartbeats {
        var count: Int
        let task: Task<Void, Never>
    }

    private struct Place: Hashable, Sendable {
        let name: String
        let isGroup: Bool
    }

    /// The number of seconds for which the user counts as present after a heartbeat.
    let seconds: Int
    private let backend: GatewayBackend?
    private let interval: Duration
    private let isSilent: Bool
    private let places = Lock<[Place: Heartbeats]>([:])

    init(_ backend: GatewayBackend?, _ configuration: PubNubConfiguration) {
        self.backend = backend
        seconds = Int(min(max(configuration.durationUntilTimeout, 20), 86_400))
        let interval = Int(min(configuration.heartbeatInterval, 86_400))
        self.interval = .seconds(interval > 0 ? interval : seconds / 2)
        isSilent = configuration.supressLeaveEvents
    }

    /// Counts one more subscription to each named channel or group. The first subscription to a channel or group starts
    /// the heartbeats for it. Patterns are ignored.
    func enter(_ names: [String], isGroup: Bool) {
        guard let backend else { return }
        for name in names where !name.contains("*") {
            let place = Place(name: name, isGroup: isGroup)
            places.withLock { places in
                if places[place] != nil {
                    places[place]?.count += 1
                } else {
                    let (seconds, interval) = (seconds, interval)
                    places[place] = Heartbeats(
                        count: 1, task: Task { await Self.sendHeartbeats(place, backend, seconds, interval) })
                }
            }
        }
    }

    /// Counts one subscription less to each named channel or group. After the last subscription to a channel or group,
    /// the heartbeats for it stop. The user's presence there then ends, unless `supressLeaveEvents` is set.
    func leave(_ names: [String], isGroup: Bool) {
        guard let backend else { return }
        for name in names {
            let place = Place(name: name, isGroup: isGroup)
            let ended = places.withLock { places -> Heartbeats? in
                guard let heartbeats = places[place] else { return nil }
                guard heartbeats.count > 1 else { return places.removeValue(forKey: place) }
                places[place]?.count -= 1
                return nil
            }
            guard let ended else { continue }
            ended.task.cancel()
            if isSilent { continue }
            Task {
                // A heartbeat in progress must not arrive after the end of the presence.
                await ended.task.value
                for channel in await Self.channels(of: place, backend) {
                    // Errors are ignored: without heartbeats, the presence ends after some time.
                    try? await backend.disappear(from: channel)
                }
            }
        }
    }

    /// Stops all heartbeats. The gateway ends the user's presence after ``seconds``.
    func end() {
        let places = places.withLock { places in
            defer { places = [:] }
            return places
        }
        for heartbeats in places.values { heartbeats.task.cancel() }
    }

    private static func sendHeartbeats(
        _ place: Place, _ backend: GatewayBackend, _ seconds: Int, _ interval: Duration
    ) async {
        while !Task.isCancelled {
            for channel in await channels(of: place, backend) {
                // Errors are ignored: the next heartbeat follows after the interval.
                try? await backend.appear(in: channel, for: seconds, state: nil)
            }
            try? await Task.sleep(for: interval)
        }
    }

    /// Returns the names of the channels for which to send heartbeats: the current channels of a group, or the channel
    /// itself. Empty when the channels of a group cannot be read.
    private static func channels(of place: Place, _ backend: GatewayBackend) async -> [String] {
        guard place.isGroup else { return [place.name] }
        return (try? await backend.group(place.name))?.channels ?? []
    }
}
