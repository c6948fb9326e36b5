import ChatModel

extension ChatService {
    /// Removes the remaining records of deleted channels at the start and after each deletion, until cancelled.
    func keepSweeping() async {
        for await _ in pendingDeletions.changeSignal.stream {
            while await !sweepDeleted() {
                // The store cannot be written: wait and try again, unless the task was cancelled.
                try? await Task.sleep(for: .seconds(1))
                guard !Task.isCancelled else { return }
            }
        }
    }

    /// Removes the remaining records of all deleted channels.
    ///
    /// - Returns: false when the removal of some records failed.
    @discardableResult func sweepDeleted() async -> Bool {
        var isDone = true
        for channel in pendingDeletions.pending {
            do throws(ChatError) {
                try await sweep(channel)
            } catch {
                isDone = false
            }
        }
        return isDone
    }

    private func sweep(_ channel: ChannelID) async throws(ChatError) {
        let key = CascadeDeletionRecord.key(channel.name, in: channel.app)
        guard let sweep = try await engine.directory.read(key).flatMap({ CascadeDeletionRecord($0) }) else {
            return pendingDeletions.complete(channel)
        }
        try await empty(channel)
        for kind in [RecordKind.membership, .restriction] { try await remove(kind, of: sweep, in: channel.app) }
        _ = try await decide([key]) { snapshot in
            // If the channel was created and deleted again meanwhile, more records remain. The record of the deletion
            // is then not removed.
            guard snapshot[key].flatMap({ CascadeDeletionRecord($0) }) == sweep else { return Decision(()) }
            return Decision((), changes: [RecordChange(key, body: nil)])
        }
    }

    /// Removes the records of a deleted channel that are not newer than its deletion. Each page is one commit, so that
    /// other writes run between them.
    private func remove(_ kind: RecordKind, of sweep: CascadeDeletionRecord, in app: AppID) async throws(ChatError) {
        var query = RecordQuery(kind, in: app, limit: limits.pageMost)
        query.parent = sweep.channel
        repeat {
            let page = try await engine.directory.list(query)
            let keys = page.items.filter { $0.updated <= sweep.since }.map(\.key)
            query.cursor = page.cursor
            guard !keys.isEmpty else { continue }
            _ = try await decide(keys) { snapshot in
                let old = keys.filter { key in snapshot[key].map { $0.updated <= sweep.since } ?? false }
                return Decision((), changes: old.map { RecordChange($0, body: nil) })
            }
        } while query.cursor != nil
    }

    /// Makes all users leave a channel that is no longer an open channel.
    func empty(_ channel: ChannelID) async throws(ChatError) {
        let presenceScope = PresenceScope(.participant, channel)
        let (accessCache, most) = (accessCache, limits.pageMost)
        var gone: [PresenceChange]
        repeat {
            gone = try await presence.perform { store throws(ChatError) in
                guard try await accessCache.channelAccess(of: nil, in: channel).channel.kind != .open else { return [] }
                let inside = try await store.occupants(of: presenceScope, after: nil, limit: most).occupants
                return try await store.leave(inside.map { PresenceKey(.participant, of: $0.user, on: channel) })
            }
        } while !gone.isEmpty
    }
}
