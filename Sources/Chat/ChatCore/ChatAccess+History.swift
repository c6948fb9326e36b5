public import ChatModel

extension ChatAccess {
    /// Returns the stored events of one or several channels, one page per request; see `EventLog.history`. The data of
    /// a message marked as deleted is null, except for callers that may undo the deletion.
    ///
    /// - Parameter isWire: true for a reader of the PubNub-compatible API. Events that are only for this API are left
    ///   out for all other readers.
    /// - Throws: `.forbidden` when the caller, or the user that the caller acts for, may not read a channel;
    ///   `.malformed` when the limit of a request is not 1 to `Limits.pageMost`.
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

    /// Returns, for each history request, the total number of stored events that it selects.
    ///
    /// - Throws: the errors of ``history(_:onWire:)``.
    public func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] {
        try await log.counts(try await readable(requests))
    }

    /// Returns one event by its timetoken, in the form in which ``history(_:onWire:)`` returns it.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.notFound` when the app has no such event, or when the caller
    ///   may not read it. The error does not distinguish these two cases.
    public func event(_ timetoken: Timetoken) async throws(ChatError) -> Event {
        try caller.require(.read)
        guard let event = try await log.event(at: timetoken, in: app), caller.reads(channel: event.channel.name),
            caller.types.match(event.type), event.audience != .wire
        else { throw Self.noEvent }
        if let user = caller.user {
            let obstacle = try await newestRefusal(to: .receiving, of: user, in: event.channel.name)
            guard obstacle == nil, event.isReadable(by: user) else { throw Self.noEvent }
        }
        return try await withoutDeletedTexts([event])[0]
    }

    /// The current end of the app's log. A reader that starts now continues from this timetoken.
    ///
    /// - Throws: the errors of the store.
    public nonisolated(nonsending) func watermark() async throws(ChatError) -> Timetoken {
        try await log.watermark(of: app)
    }

    /// The result of ``watermark()``, if it is known without waiting; nil otherwise.
    public var watermarkAtOnce: Timetoken? { log.watermarkAtOnce(of: app, ifCompleteAfter: .distantFuture) }

    private static let noEvent = ChatError(
        .notFound, "no event has this id; the event may have expired or been deleted")

    private func readable(_ requests: [HistoryRequest]) async throws(ChatError) -> [HistoryRequest] {
        var permitted: [HistoryRequest] = []
        for var request in requests {
            try await requireAccess(of: request.channel.name)
            guard (1...limits.pageMost).contains(request.limit) else {
                throw ChatError(.malformed, "'limit' must be 1 to \(limits.pageMost)")
            }
            request.types = try Selection.narrow(request.types, to: caller.types, what: "type")
            permitted.append(request)
        }
        return permitted
    }
}
