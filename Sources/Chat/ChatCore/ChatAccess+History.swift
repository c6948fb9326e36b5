public import ChatModel

extension ChatAccess {
    /// Kept events of one channel or several; one page per request, see `EventLog.history`. What a message said that is
    /// marked as deleted is null, but for who may take the deletion back.
    ///
    /// - Parameter isWire: whether the reader reads another service's wire: no other gets the events that are for it alone.
    /// - Throws: `.forbidden` when the caller, or the user it speaks for, may not read a channel, `.malformed` for a limit out of range.
    public func history(
        _ requests: [HistoryRequest], onWire isWire: Bool = false
    ) async throws(ChatError) -> [Page<Event>] {
        var pages = try await log.history(try await readable(requests))
        let user = caller.user
        for index in pages.indices {
            pages[index].items.removeAll { event in
                !isWire && event.audience == .wire || user.map { !event.isReadable(by: $0) } ?? false
            }
        }
        var shown = try await withoutDeletedTexts(pages.flatMap(\.items))[...]
        for index in pages.indices {
            let count = pages[index].items.count
            pages[index].items = Array(shown.prefix(count))
            shown = shown.dropFirst(count)
        }
        return pages
    }

    /// How many kept events a history request would give in all.
    public func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] {
        try await log.counts(try await readable(requests))
    }

    /// One event by its id, as ``history(_:)`` shows it.
    ///
    /// - Throws: `.notFound` when there is none in this app, or none the caller may read: it never tells which.
    public func event(_ timetoken: Timetoken) async throws(ChatError) -> Event {
        try caller.demand(.read)
        guard let event = try await log.event(at: timetoken, in: app), caller.reads(channel: event.channel.name),
            caller.types.match(event.type), event.audience != .wire
        else { throw Self.noEvent }
        if let user = caller.user {
            let obstacle = try await obstacle(to: .audienceSnapshot, of: user, in: event.channel.name)
            guard obstacle == nil, event.isReadable(by: user) else { throw Self.noEvent }
        }
        return try await withoutDeletedTexts([event])[0]
    }

    /// Where reading continues from now on.
    public func watermark() async throws(ChatError) -> Timetoken { try await log.watermark(of: app) }

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
