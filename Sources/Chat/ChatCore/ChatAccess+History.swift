public import ChatModel

extension ChatAccess {
    /// Kept events of one channel or several; one page per request, see `EventLog.history`.
    ///
    /// - Throws: `.forbidden` when the caller, or the user it speaks for, may not read a channel, `.malformed` for a limit out of range.
    public func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        let pages = try await log.history(try await readable(requests))
        guard let user = caller.user else { return pages }
        return pages.map { page in
            var page = page
            page.items.removeAll { !$0.isReadable(by: user) }
            return page
        }
    }

    /// How many kept events a history request would give in all.
    public func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] {
        try await log.counts(try await readable(requests))
    }

    /// One event by its id.
    ///
    /// - Throws: `.notFound` when there is none in this app, or none the caller may read: it never tells which.
    public func event(_ timetoken: Timetoken) async throws(ChatError) -> Event {
        try caller.demand(.read)
        guard let event = try await log.event(at: timetoken, in: space), caller.reaches(channel: event.channel.name),
            caller.types.match(event.type)
        else { throw Self.noEvent }
        if let user = caller.user {
            let obstacle = try await obstacle(to: .hearing, of: user, in: event.channel.name)
            guard obstacle == nil, event.isReadable(by: user) else { throw Self.noEvent }
        }
        return event
    }

    /// Hides the kept events strictly between the bounds, for good; needs `manage`.
    public func deleteEvents(
        after: Timetoken, before: Timetoken, in name: String
    ) async throws(ChatError) -> Int {
        try caller.demand(.manage)
        try caller.demand(channel: name)
        defer { service.noteDeletion() }
        let count = try await log.delete(after: after, before: before, in: channel(name))
        await service.unread.cleared(channel(name))
        return count
    }

    /// Where reading continues from now on.
    public func watermark() async throws(ChatError) -> Timetoken { try await log.watermark(of: space) }

    private static let noEvent = ChatError(.notFound, "no such event")

    private func readable(_ requests: [HistoryRequest]) async throws(ChatError) -> [HistoryRequest] {
        var permitted: [HistoryRequest] = []
        for var request in requests {
            try await demandHearing(of: request.channel.name)
            guard (1...limits.pageMost).contains(request.limit) else {
                throw ChatError(.malformed, "limit must be 1 to \(limits.pageMost)")
            }
            request.types = try Selection.narrow(request.types, to: caller.types, what: "type")
            permitted.append(request)
        }
        return permitted
    }
}
