import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON

extension PubNubAPI {
    /// `GET /v2/subscribe/{s}/{C}/0`: returns events to a subscriber. A request without a cursor (a handshake) gets the
    /// current position of the log. A request with a cursor gets the events after the cursor, and waits if there are
    /// none. A poll that has missed no event, and whose channels are known in memory, waits without a task.
    func startSubscribe(_ request: WireRequest) throws -> Handler.Reply {
        let keyset = try keyset(of: request, at: 2)
        let chat = chat(keyset, for: request)
        let parameters = try SubscribeParameters(request, keyset, channelLists, chat.limits)
        if let opening = try poll(parameters, chat) { return .now(.deferred(opening)) }
        return .later { try await subscribe(parameters, chat) }
    }

    /// Starts a poll without waiting; returns nil if this is not possible.
    private func poll(_ parameters: SubscribeParameters, _ chat: ChatAccess) throws -> DeferredStart? {
        guard parameters.cursor > .zero, let watermark = chat.watermarkAtOnce,
            let wanted = try SubscribeRequest.lookedUpAtOnce(parameters, chat, polls, presenceTimeouts, upTo: watermark)
        else { return nil }
        let (order, formatter) = order(wanted, parameters, chat, upTo: watermark)
        guard let opening = try polls.followAtOnce(order, in: chat, from: parameters.request.request.remoteAddress)
        else { return nil }
        guard let user = wanted.user, let holder = formatter.holder else { return opening }
        let isPresent = try wanted.states.isEmpty && chat.stay(user, onAll: wanted.place.channels, by: holder)
        return isPresent ? opening : nil
    }

    private nonisolated(nonsending) func subscribe(
        _ parameters: SubscribeParameters, _ chat: ChatAccess
    ) async throws -> Response {
        let wanted = try await SubscribeRequest.lookedUp(parameters, chat, polls, presenceTimeouts)
        guard wanted.cursor > .zero else {
            // The position is read before the user becomes present, so that a client that follows its own presence gets
            // its join event with the first poll.
            let watermark = try await positionBeforeJoins(wanted, chat.app, chat)
            // The watermark of an empty log is zero. A client would send zero as the cursor of another handshake, in an
            // endless loop. The position returned instead of zero is earlier than every future event.
            let position = watermark > .zero ? watermark : service.clock.now.adding(.zero - limits.pubnubCatchUp)
            if let user = wanted.user {
                try await chat.appear(
                    user, onAll: wanted.place.channels, for: wanted.duration, showing: wanted.states)
            }
            return SubscribePrinter.answer(PollBatch([], limit: 1, upTo: position), to: wanted.subscriber)
        }
        let (order, formatter) = order(wanted, parameters, chat, upTo: try await chat.watermark())
        do {
            if let user = wanted.user, let holder = formatter.holder {
                try await chat.appear(
                    user, onAll: wanted.place.channels, for: wanted.duration, by: holder, showing: wanted.states)
            }
            switch try await polls.follow(order, in: chat) {
            case .now(let batch): return await batch.printed { SubscribePrinter.answer($0, to: wanted.subscriber) }
            case .deferred(let opening): return .deferred(opening)
            }
        } catch {
            formatter.ended()
            throw error
        }
    }

    /// Returns the poll of a request. A cursor that is too old is replaced by the oldest position. A cursor after the
    /// end of the log is replaced by the end.
    private func order(
        _ wanted: SubscribeRequest, _ parameters: SubscribeParameters, _ chat: ChatAccess, upTo watermark: Timetoken
    ) -> (PollRequest, SubscribeFormatter) {
        let limits = limits
        let oldest = service.clock.now.adding(.zero - limits.pubnubCatchUp)
        let request = parameters.request
        let formatter = SubscribeFormatter(wanted, print: print, service, shown: request.shownToken(tokens))
        var caller = chat.caller
        if let token = request.token { caller.expires = token.expires }
        let order = PollRequest(
            caller: caller, selection: wanted.selection, groups: wanted.groups, limit: Self.itemsMost,
            after: max(min(wanted.cursor, watermark), oldest), hold: limits.pubnubPollHold, formatter: formatter,
            audienceChanges: wanted.user == nil ? nil : wanted.audienceChanges)
        return (order, formatter)
    }

    /// Returns the end of the log, or an earlier position if the subscriber follows the presence of channels that the
    /// user has just joined by a heartbeat. The earlier position is before these joins.
    private nonisolated(nonsending) func positionBeforeJoins(
        _ wanted: SubscribeRequest, _ app: AppID, _ chat: ChatAccess
    ) async throws(ChatError) -> Timetoken {
        let watermark = try await chat.watermark()
        guard let user = wanted.user else { return watermark }
        let followed = wanted.place.channels.filter { wanted.subscriber.match.names.followsPresence(of: $0) }
        let joined = heartbeatJoins.take(followed, of: UserID(user, in: app), at: service.clock.now)
        return min(watermark, joined ?? watermark)
    }

    /// The maximum number of events in one response. The next poll returns further events.
    private static let itemsMost = 100
}

/// Formats the responses to long polls of the PubNub API. A formatter stores only the parts of the request that the
/// response needs.
private final class SubscribeFormatter: PollFormatter {
    private let reader: Subscriber
    private let print: SubscribePrinter
    private let service: ChatService
    private let duration: Duration
    private let user: String?
    /// The id under which the user is present while the poll waits; nil when the poll does not make its user present.
    let holder: HolderID?

    /// The token that authorized the poll; nil if none was needed.
    private let shown: PresentedToken?

    init(_ wanted: SubscribeRequest, print: SubscribePrinter, _ service: ChatService, shown: PresentedToken?) {
        self.shown = shown
        reader = wanted.subscriber
        self.print = print
        self.service = service
        duration = wanted.duration
        user = wanted.user
        holder = wanted.user == nil || wanted.place.channels.isEmpty ? nil : .ofPoll()
    }

    var hasFilter: Bool { reader.filter != nil }

    func shows(_ event: Event) -> Bool { reader.wants(event, print) || isBanOrItsEnd(event) }

    /// Returns true for an event that bans the poll's user or removes a ban. Such an event ends the poll even if the
    /// response does not contain the event, because the user's next poll follows fewer or more channels.
    private func isBanOrItsEnd(_ event: Event) -> Bool {
        guard event.type == "user.banned" || event.type == "user.unbanned", let user else { return false }
        return event.data.rawMember("restriction")?.rawMember("user") == JSONText(string: user)
    }

    /// Returns true while the app has the presented subscribe key and the token is valid.
    func isInForce(_ order: PollRequest) -> Bool { app != nil && tokenFault == nil }

    /// True when the app now requires tokens and the poll has no token. The poll then ends, and the client's next poll
    /// is checked. A signed poll also ends, but the next signed poll is accepted.
    var needsRecheck: Bool { shown == nil && app?.requiresTokens == true }

    private var app: AppRecord? {
        service.keyring.keyset(subscribeKey: reader.subscribeKey).flatMap { $0.app == reader.app ? $0.record : nil }
    }

    private var tokenFault: WireError? { app.flatMap { shown?.fault(in: $0, service) } }

    func answer(_ batch: PollBatch, to reply: DeferredResponse) { reply.complete(print.answer(batch, to: reader)) }

    func refuse(_ error: ChatError, to reply: DeferredResponse) {
        // If the token has become invalid, the error has the same text that the next call would get.
        let reason = error.code == .unauthorized ? tokenFault : nil
        reply.complete((reason ?? WireError(error)).response(in: .subscribe, at: .zero))
    }

    func ended() {
        guard let holder else { return }
        service.presence.concluded(holder, lasting: duration)
    }
}
