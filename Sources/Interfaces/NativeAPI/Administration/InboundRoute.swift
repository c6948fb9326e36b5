import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Signing

extension NativeAPI {
    /// `POST /in/{source}` and `POST /in/{app}/{source}`: accepts a post of another service. The signature of the post
    /// authenticates the service.
    @Sendable func postInbound(_ request: Request) throws -> Handler.Reply {
        let (source, app) = (request.name("source"), request.parameters["app"])
        guard let prepared = inbound.receiver.prepared(source, in: app) else {
            return .later {
                try await accept(request, for: inbound.receiver.prepare(source, in: app)).response()
            }
        }
        return try accept(request, for: prepared)
    }

    private func accept(_ request: Request, for source: PreparedSource) throws -> Handler.Reply {
        let post = post(request)
        guard !inbound.receiver.refusesEncoding(of: post, for: source) else { throw Self.encodedPost }
        switch try inbound.receiver.start(post, for: source) {
        case .accepted(let receipt): return .now(receipt.response)
        case .verified(let verified): return .later { try await inbound.receiver.finish(verified).response }
        }
    }

    /// Logs a post that is larger than the limit. The server rejects the post, and the source's owner finds it in the
    /// log of requests.
    @Sendable func recordTooLargePost(_ request: Request) {
        inbound.receiver.recordTooLarge(
            post(request), bytes: request.headers["Content-Length"].flatMap { Int($0) }, for: request.name("source"),
            in: request.parameters["app"])
    }

    /// `GET` and `OPTIONS` of `/in/{source}` and `/in/{app}/{source}`: responds to a provider that checks whether it
    /// may post to this address.
    func answerInboundChallenge(_ request: Request) async throws -> Response {
        let (source, app) = (request.name("source"), request.parameters["app"])
        try await inbound.receiver.prepare(source, in: app)
        if let answer = try inbound.receiver.answerChallenge(post(request), for: source, in: app) {
            return answer.response
        }
        let allowed: [HTTPMethod] = [.post, .options]
        guard request.method == .options else { throw Problem.methodNotAllowed(request.method, allowed: allowed) }
        return .empty(headers: [("Allow", allowed.map(\.rawValue).joined(separator: ", "))])
    }

    private static let encodedPost = Problem(
        status: 415, code: "unsupported_content_encoding", title: "Unsupported content encoding",
        detail: PostReceiver.encodingRefusal, headers: [("Accept-Encoding", "identity")])

    private func post(_ request: Request) -> InboundPost {
        InboundPost(
            headers: request.headers.all, query: request.query.items.map { ($0.name, $0.value) },
            body: request.body.bytes, url: publicURL.isEmpty ? nil : publicURL + request.target,
            method: request.method.rawValue)
    }
}

extension InboundReceipt {
    /// The response to the post's sender.
    var response: Response {
        if let handshake { return handshake.response }
        var writer = JSONWriter(capacity: 96 * events.count + 32)
        writer.beginObject()
        writer.member("accepted", events.count)
        writer.key("events")
        writer.beginArray()
        for appended in events {
            writer.beginObject()
            writer.member("id", eventAt: appended.event.timetoken)
            writer.member("timetoken", appended.event.timetoken)
            writer.member("duplicate", appended.isDuplicate)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes, status: 202)
    }
}

extension HandshakeResponse {
    fileprivate var response: Response {
        let fields = headers.map { ($0.name, $0.value) }
        guard let contentType else { return .empty(status: status, headers: fields) }
        var response = Response(status: status, contentType: contentType, body: Array(body.utf8))
        response.headers += fields
        return response
    }
}
