import ChatModel

extension WebhookRegistry {
    /// Deliveries looked at, one by one, before somebody who does not reach everything may turn them elsewhere.
    private static let mostLookedAt = 20_000

    /// What waits may be owed under wider settings than the present ones: who leads it elsewhere must reach it too.
    /// - Throws: `.forbidden`.
    func demandReach(
        ofWhatWaitsFor old: Webhook, turnedTo new: WebhookSettings, by caller: Caller
    ) async throws(ChatError) {
        guard old.settings.receiver != new.receiver, !DeliveryScope.Reach(caller).isEverything else { return }
        var query = DeliveryQuery(app: old.app, limit: JobSelection.pageSize)
        query.subscriber = old.id
        query.statuses = [.pending, .failed, .held]
        var seen = 0
        repeat {
            let page = try await queue.list(query)
            seen += page.items.count
            guard page.items.allSatisfy(caller.reaches), seen < Self.mostLookedAt || page.cursor == nil else {
                throw ChatError(
                    .forbidden,
                    "deliveries wait for this webhook that this credential does not reach, or too many to tell")
            }
            query.cursor = page.cursor
        } while query.cursor != nil
    }
}

extension WebhookSettings {
    /// Who gets what is posted.
    fileprivate var receiver: Receiver {
        Receiver(url: url, auth: auth, certificate: tls?.certificate, authorities: tls?.authorities)
    }

    fileprivate struct Receiver: Equatable {
        var url: String
        var auth: WebhookAuth?
        var certificate: String?
        var authorities: String?
    }
}
