import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Signing

/// Routes of the latest requests to a source.
extension NativeAPI {
    /// `GET /v1/sources/{id}/requests`: returns a page of the latest requests to a source, the newest first.
    func getSourceRequests(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Listing.timedNames + ["outcome"])
        let listing = try Listing(parameters, of: request, limits: limits)
        var requests = try await inbound.receiver.requests(of: request.name("id"), by: caller)
        if let outcome = try parameters.word("outcome", InboundRequest.Outcome.self) {
            requests.removeAll { $0.outcome != outcome }
        }
        let page = try listing.page(of: requests, in: .descending, id: \.id, time: { $0.at })
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/sources/{id}/requests/{request}`: returns a logged request of a source, including its body.
    func getSourceRequest(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let logged = try await inbound.receiver.request(request.name("request"), of: request.name("id"), by: caller)
        return .json(JSONText(capacity: logged.body.count + 1024) { logged.print(to: &$0) }.bytes)
    }

    /// `POST /v1/sources/{id}/requests/{request}/replay`: processes a logged request again, and returns the result.
    func replaySourceRequest(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let id = request.name("id")
        let path = try await inbound.registry.source(id, by: caller).path
        let receipt = try await inbound.receiver.replay(
            request.name("request"), of: id, url: publicURL.isEmpty ? nil : publicURL + path, by: caller)
        return receipt.response
    }
}

extension InboundRequest {
    /// Prints the request as the next value of `writer`.
    fileprivate func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("received_at", at.timestamp)
        writer.member("outcome", outcome.rawValue)
        if let reason { writer.member("reason", reason) } else { writer.nullMember("reason") }
        writer.key("errors")
        writer.beginArray()
        for fault in faults { fault.print(to: &writer) }
        writer.endArray()
        writer.member("events", events)
        if let secretIndex { writer.member("secret", secretIndex) } else { writer.nullMember("secret") }
        writer.member("mapping_version", mappingVersion)
        if let replayOf { writer.member("replay_of", replayOf) } else { writer.nullMember("replay_of") }
        writer.member("method", method)
        writer.print("headers", headers)
        writer.print("query", query)
        if let text = String(validating: body, as: UTF8.self) {
            writer.member("body", text)
        } else {
            // The stored bytes are not valid UTF-8, because the body is not text or was truncated inside a character.
            writer.member("body_base64", Base64.encode(body))
        }
        writer.member("body_bytes", bodyBytes)
        writer.member("truncated", isTruncated)
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func print(_ name: StaticString, _ fields: [InboundPost.Field]) {
        key(name)
        beginArray()
        for field in fields {
            beginObject()
            member("name", field.name)
            member("value", field.value)
            endObject()
        }
        endArray()
    }
}
