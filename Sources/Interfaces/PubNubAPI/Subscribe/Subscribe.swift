import ChatCore
import ChatModel
import Following
import HTTPServer

extension PubNubAPI {
    /// `GET /v2/subscribe/{s}/{C}/0`: with no cursor where the log is now, else what came after it, waited for.
    func getSubscribe(_ request: WireRequest) async throws -> Response {
        let keyset = try Keyset(request.segment(2), service)
        let wanted = try SubscribeRequest(request, keyset, limits)
        let chat = chat(keyset, for: request)
        guard wanted.cursor > .zero else {
            return SubscribePrint.answer(PollBatch([], limit: 1, upTo: try await chat.watermark()), to: wanted)
        }
        // A cursor that is older counts as that old, and one beyond the log as the log's end.
        let oldest = service.clock.now.adding(.zero - limits.pubnubCatchUp)
        let resumption = try await chat.resume(at: max(wanted.cursor, oldest).description)
        let order = PollOrder(
            caller: keyset.caller, selection: wanted.selection, limit: Self.itemsMost, after: resumption.from,
            hold: limits.pubnubPollHold, voice: SubscribeVoice(wanted: wanted, print: print, service: service))
        switch try await polls.follow(order, in: chat) {
        case .now(let batch): return SubscribePrint.answer(batch, to: wanted)
        case .later(let opening): return .late(opening)
        }
    }

    /// Of one answer; the rest follows on the next poll.
    private static let itemsMost = 100
}

/// How this wire speaks to those who wait.
private struct SubscribeVoice: PollVoice {
    let wanted: SubscribeRequest
    let print: SubscribePrint
    let service: ChatService

    func shows(_ event: Event) -> Bool { ShownPayload.shows(event) }

    /// As long as the app has the key that was shown.
    func isInForce(_ order: PollOrder) -> Bool {
        service.keyring.app(subscribeKey: wanted.keyset.app.subscribeKey)?.space == wanted.keyset.space
    }

    func answer(_ batch: PollBatch, to reply: LateReply) { reply.complete(print.answer(batch, to: wanted)) }

    func refuse(_ error: ChatError, to reply: LateReply) {
        reply.complete(WireError(error).response(in: .subscribe, at: .zero))
    }
}
