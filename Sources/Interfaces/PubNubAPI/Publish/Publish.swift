public import ChatCore
import ChatModel
import HTTPServer
public import JSON

extension PubNubAPI {
    /// `GET /publish/{p}/{s}/0/{c}/0/{json}`
    func getPublish(_ request: WireRequest) async throws -> Response {
        guard let text = request.rest(from: 6) else { throw WireError.invalidJSON }
        return try await publish(Array(text.utf8), request)
    }

    /// `POST /publish/{p}/{s}/0/{c}/0`: the body is the payload.
    func postPublish(_ request: WireRequest) async throws -> Response {
        try await publish(request.body, request)
    }

    /// `GET /v1/files/publish-file/{p}/{s}/0/{c}/0/{json}`: a publish that announces a file, wherever that lies.
    func getFileMessage(_ request: WireRequest) async throws -> Response {
        guard let text = request.rest(from: 8) else { throw WireError.invalidJSON }
        let (keyset, channel) = try place(of: request, shiftedBy: 2)
        let payload = try payload(Array(text.utf8), limit: limits.pubnubMessageBytes, .messageTooLarge)
        var emission = Emission.message(
            channel: channel, data: payload.text, user: try request.user(), meta: try meta(request))
        emission.value = payload.value
        emission.customType = try label(request)
        emission.kind = .file
        store(&emission, as: request)
        return try await sent(emission, keyset, request)
    }

    /// `GET /signal/{p}/{s}/0/{c}/0/{json}`
    func getSignal(_ request: WireRequest) async throws -> Response {
        guard let text = request.rest(from: 6) else { throw WireError.invalidJSON }
        let (keyset, channel) = try place(of: request)
        let payload = try payload(Array(text.utf8), limit: limits.signalDataBytes, .signalTooLarge)
        let typing = WireEventMapper(channel: channel, payload, user: try request.user(), label: try label(request))
        if let place = try await take(typing, chat(keyset, for: request)) { return Self.sent(at: place) }
        return try await sent(typing.signal(), keyset, request)
    }

    /// The order of the checks is the wire's (`pubnub-wire.md` 6.2): the first that fails is the answer.
    private func publish(_ bytes: [UInt8], _ request: WireRequest) async throws -> Response {
        let (keyset, channel) = try place(of: request)
        let payload = try payload(bytes, limit: limits.pubnubMessageBytes, .messageTooLarge)
        var typing = WireEventMapper(channel: channel, payload, user: try request.user(), label: try label(request))
        typing.meta = try meta(request)
        var emission = typing.publish()
        store(&emission, as: request)
        if let thread = MappedThread(channel), emission.isReply,
            let answer = try await sent(emission, in: thread, keyset, request)
        {
            return answer
        }
        if try await isKnown(typing, chat(keyset, for: request)), emission.audience == .subscribers {
            emission.audience = .wire
        }
        return try await sent(emission, keyset, request)
    }

    /// A reply, where the message replied to is there; nil where it is not, or is a reply itself.
    private func sent(
        _ emission: Emission, in thread: MappedThread, _ keyset: Keyset, _ request: WireRequest
    ) async throws -> Response? {
        var reply = emission
        reply.channel = thread.parent
        var ties = MessageLinks(threadOf: thread.root)
        ties.keepsMeta = true
        do throws(ChatError) {
            return Self.sent(try await chat(keyset, for: request).post(reply, ties))
        } catch {
            guard error.code == .notFound || error.code == .conflict else { throw error }
            return nil
        }
    }

    /// Whose channel it is about.
    ///
    /// - Parameter shift: how many segments stand before those of a publish.
    private func place(of request: WireRequest, shiftedBy shift: Int = 0) throws -> (Keyset, String) {
        let keyset = try Keyset(request.segment(2 + shift), service)
        try keyset.demand(publishKey: request.segment(1 + shift))
        guard let channel = request.segment(4 + shift), !channel.readsLikePresence,
            channel != ChannelID.systemName
        else {
            throw WireError.invalidChannel
        }
        do throws(ChatError) {
            try Names.check(channel: channel)
        } catch {
            throw WireError.invalidChannel
        }
        return (keyset, channel)
    }

    private func payload(_ bytes: [UInt8], limit: Int, _ tooLarge: WireError) throws(WireError) -> WirePayload {
        guard bytes.count <= limit else { throw tooLarge }
        guard let payload = WirePayload(bytes, depth: limits.jsonDepth) else { throw .invalidJSON }
        return payload
    }

    private func label(_ request: WireRequest) throws(WireError) -> String? {
        guard let label = request["custom_message_type"] else { return nil }
        guard Label.isLabel(label) else { throw .invalidLabel }
        return label
    }

    private func meta(_ request: WireRequest) throws(WireError) -> JSONText? {
        // One SDK says null where it has none.
        guard let text = request["meta"], text != "null" else { return nil }
        guard let meta = WirePayload(Array(text.utf8), depth: limits.jsonDepth) else { throw .invalidJSON }
        return meta.text
    }

    /// Whether and how long it stays, and whether anybody but webhooks gets it (6.3, 6.5).
    private func store(_ emission: inout Emission, as request: WireRequest) {
        // One SDK fires with this very pair and no `norep`, and nothing else sends it.
        let isFired = request.flag("norep") || request["store"] == "0" && request["ttl"] == "0"
        if isFired { emission.audience = .webhooks }
        if isFired || !request.flag("store", default: true) { emission.retention = .passing }
        if let hours = request["ttl"].flatMap(Double.init), hours > 0, hours < 876_000 {
            emission.timeToLive = .milliseconds(Int64(hours * 3_600_000))
        }
    }

    private func sent(_ emission: Emission, _ keyset: Keyset, _ request: WireRequest) async throws -> Response {
        Self.sent(try await chat(keyset, for: request).emit([emission]))
    }

    private static func sent(_ outcome: AppendOutcome) -> Response {
        sent(at: outcome.events[0].event.timetoken)
    }

    private static func sent(at place: Timetoken) -> Response {
        .wire { writer in
            writer.beginArray()
            writer.integer(1)
            writer.string("Sent")
            writer.string(place.description)
            writer.endArray()
        }
    }
}

extension Emission {
    /// Whether it is a reply where it is published on a thread's channel: a kept message, whose `meta` can name the thread.
    fileprivate var isReply: Bool {
        type == BuiltInTypes.messageCreated && retention == .kept && audience == .subscribers
            && (meta.map { $0.rawMembers() != nil } ?? true)
    }
}

/// A message as a keyset's history has it: for whoever moves it here.
public enum ImportedPublish {
    /// What its publish would be here: the same type, and the sent text kept for this wire's readers.
    ///
    /// - Parameter isFile: whether it announces a file.
    /// - Returns: nil for a payload that this gateway takes for no JSON.
    public static func emission(
        channel: String, payload: JSONText, user: String?, label: String?, meta: JSONText?, isFile: Bool = false
    ) -> Emission? {
        guard let payload = WirePayload(payload.bytes, depth: Limits().jsonDepth) else { return nil }
        guard !isFile else {
            var emission = Emission.message(channel: channel, data: payload.text, user: user, meta: meta)
            emission.customType = label
            emission.kind = .file
            return emission
        }
        var typing = WireEventMapper(channel: channel, payload, user: user, label: label)
        typing.meta = meta
        return typing.publish()
    }
}

/// A payload as it was sent: any JSON value, its bytes untouched, and as it was parsed.
struct WirePayload {
    let text: JSONText
    let value: JSONValue

    /// Nil for what is no JSON (RFC 8259).
    ///
    /// Names may repeat and numbers be of any size, as readers get the text and not what was parsed of it.
    init?(_ bytes: [UInt8], depth: Int) {
        // What was wrong is no news: this wire has one text for all of it.
        guard
            let document = try? JSONDocument(
                bytes, limits: JSONLimits(depth: depth), numbers: .any, duplicates: .lastWins)
        else { return nil }
        value = document.root
        text = document.text
    }
}
