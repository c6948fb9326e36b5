import ChatCore
import ChatModel
import HTTPServer

/// An app as its keys name it: the subscribe key stands in every path (`pubnub-wire.md` 2.1).
struct Keyset: Sendable {
    let record: AppRecord

    var app: AppID { record.id }

    /// Who comes with the keys: they read, write and delete, as long as no access tokens narrow that. They name no user;
    /// whom a request names is a claim.
    var caller: Caller {
        var caller = Caller(app: app, credential: record.subscribeKey, scopes: [.emit, .read, .manage])
        caller.meters = record.meters
        return caller
    }

    /// - Throws: `invalidSubscribeKey`.
    init(_ subscribeKey: String?, _ service: ChatService) throws(WireError) {
        guard let app = subscribeKey.flatMap({ service.keyring.app(subscribeKey: $0) }) else {
            throw .invalidSubscribeKey
        }
        record = app
    }

    /// - Throws: `invalidKey` for another app's publish key.
    func demand(publishKey: String?) throws(WireError) {
        guard let publishKey, ExactText(publishKey) == ExactText(record.publishKey) else { throw .invalidKey }
    }
}

extension Keyset {
    /// Who comes to do something to a message: a token lets its holder do it as a user, to whom others' messages are not
    /// their own. The keys alone, a signature and a token that lets its holder manage the channel stand above that.
    func caller(of request: WireRequest, in channel: String) -> Caller {
        guard let token = request.token, !token.allows(.manage, .channel, channel) else { return caller }
        return Caller(app: app, credential: record.subscribeKey, scopes: [.emit, .read])
    }
}

extension PubNubAPI {
    func chat(_ keyset: Keyset, for request: WireRequest) -> ChatAccess {
        var chat = service.chat(for: keyset.caller, cause: request.request.id)
        // Clients of this wire judge by the action that deleted it.
        chat.showsDeletedTexts = true
        return chat
    }
}
