import ChatCore
import ChatModel
import Following
import HTTPServer
import JSON
import Signing

extension PubNubAPI {
    /// `GET /v2/subscribe/{s}/{C}/0`: with no cursor where the log is now, else what came after it, waited for.
    func getSubscribe(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(2), service)
        let chat = chat(keyset, for: request)
        let wanted = try await SubscribeRequest(request, keyset, chat, polls)
        guard wanted.cursor > .zero else {
            // Read first: who follows its own presence gets its coming with the first poll.
            let watermark = try await chat.watermark()
            // Of a log without events it is zero, which would ask for another handshake, and that without end. All that is
            // ever in it comes later than this.
            let position = watermark > .zero ? watermark : service.clock.now.adding(.zero - limits.pubnubCatchUp)
            if let user = wanted.user {
                try await chat.appear(
                    user, onAll: wanted.place.channels, for: wanted.lasting, showing: wanted.states)
            }
            return SubscribePrinter.answer(PollBatch([], limit: 1, upTo: position), to: wanted.subscriber)
        }
        // A cursor that is older counts as that old, and one beyond the log as the log's end.
        let oldest = service.clock.now.adding(.zero - limits.pubnubCatchUp)
        let position = max(min(wanted.cursor, try await chat.watermark()), oldest)
        let voice = SubscribeFormatter(wanted, print: print, service, shown: request.shownToken(tokens))
        var caller = keyset.caller
        caller.expires = request.token?.expires
        var order = PollRequest(
            caller: caller, selection: wanted.subscriber.selection, limit: Self.itemsMost, after: position,
            hold: limits.pubnubPollHold, voice: voice)
        order.groups = wanted.groups
        if wanted.user != nil { order.audienceChanges = wanted.audienceChanges }
        do {
            if let user = wanted.user, let holder = voice.holder {
                try await chat.appear(
                    user, onAll: wanted.place.channels, for: wanted.lasting, by: holder, showing: wanted.states)
            }
            switch try await polls.follow(order, in: chat) {
            case .now(let batch): return await batch.printed { SubscribePrinter.answer($0, to: wanted.subscriber) }
            case .later(let opening): return .late(opening)
            }
        } catch {
            voice.ended()
            throw error
        }
    }

    /// Of one answer; the rest follows on the next poll.
    private static let itemsMost = 100
}

/// How this wire speaks to those who wait. Holds what is needed for that and no more of the request.
private final class SubscribeFormatter: PollFormatter {
    private let reader: Subscriber
    private let print: SubscribePrinter
    private let service: ChatService
    private let lasting: Duration
    private let user: String?
    /// Holds the user while the poll waits; nil where nobody is present by it. Short enough to need no memory of its own.
    let holder: HolderID?

    /// The token that let it in; nil where none was needed.
    private let shown: PresentedToken?

    init(_ wanted: SubscribeRequest, print: SubscribePrinter, _ service: ChatService, shown: PresentedToken?) {
        self.shown = shown
        reader = wanted.subscriber
        self.print = print
        self.service = service
        lasting = wanted.lasting
        user = wanted.user
        holder =
            wanted.user == nil || wanted.place.channels.isEmpty
            ? nil : HolderID(SystemRandomSource().token(prefix: "p_", bytes: 9))
    }

    var asksFilters: Bool { reader.filter != nil }

    func shows(_ event: Event) -> Bool { reader.wants(event, print) || isBanOrItsEnd(event) }

    /// Whether the user is banned by it, or no longer: the poll is answered, with nothing of it, since the next one follows
    /// less, or more.
    private func isBanOrItsEnd(_ event: Event) -> Bool {
        guard event.type == "user.banned" || event.type == "user.unbanned", let user else { return false }
        return event.data.rawMember("restriction")?.rawMember("user") == JSONText(string: user)
    }

    /// As long as the app has the key that was shown, and the token holds.
    func isInForce(_ order: PollRequest) -> Bool { app != nil && tokenFault == nil }

    /// Whether the app demands tokens by now, and the poll has shown none. A signed one is asked again too, and let in.
    var isToBeAskedAgain: Bool { shown == nil && app?.demandsTokens == true }

    private var app: AppRecord? {
        service.keyring.app(subscribeKey: reader.subscribeKey).flatMap { $0.id == reader.app ? $0 : nil }
    }

    private var tokenFault: WireError? { app.flatMap { shown?.fault(in: $0, service) } }

    func answer(_ batch: PollBatch, to reply: DeferredResponse) { reply.complete(print.answer(batch, to: reader)) }

    func refuse(_ error: ChatError, to reply: DeferredResponse) {
        // A token's end is told in the words that the next call would get.
        let reason = error.code == .unauthorized ? tokenFault : nil
        reply.complete((reason ?? WireError(error)).response(in: .subscribe, at: .zero))
    }

    func ended() {
        guard let holder else { return }
        service.presence.concluded(holder, lasting: lasting)
    }
}
