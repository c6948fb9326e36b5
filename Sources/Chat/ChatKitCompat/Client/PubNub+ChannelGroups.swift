import ChatKit
import ChatRemote

extension PubNub {
    /// Reads the names of all channel groups of the app.
    public func listChannelGroups(
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<[String], any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            var names: [String] = []
            var cursor: String?
            repeat {
                let page = try await backend.groups(limit: 250, cursor: cursor)
                names += page.items
                cursor = page.cursor
            } while cursor != nil
            return names
        }
    }

    /// Reads the names of the channels of a group. The list is empty when the group does not exist.
    public func listChannels(
        for group: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(group: String, channels: [String]), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            (group: group, channels: try await backend.group(group)?.channels ?? [])
        }
    }

    /// Adds channels to a group. Creates the group when it does not exist.
    ///
    /// - Parameter completion: receives the names of the added channels.
    public func add(
        channels: [String], to group: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(group: String, channels: [String]), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.change(group: group, adding: channels, removing: [])
            return (group: group, channels: channels)
        }
    }

    /// Removes channels from a group.
    ///
    /// - Parameter completion: receives the names of the removed channels.
    public func remove(
        channels: [String], from group: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(group: String, channels: [String]), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.change(group: group, adding: [], removing: channels)
            return (group: group, channels: channels)
        }
    }

    /// Deletes a group, but not its channels.
    ///
    /// - Parameter completion: receives the name of the group.
    public func remove(
        channelGroup: String, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<String, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.delete(group: channelGroup)
            return channelGroup
        }
    }
}
