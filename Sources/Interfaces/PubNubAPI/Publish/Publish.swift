import ChatCore
public import ChatModel
import HTTPServer
public import JSON

extension PubNubAPI {
    /// `GET /publish/{p}/{s}/0/{c}/0/{json}`: publishes a message.
    @Sendable func getPublish(_ request: WireRequest) throws -> Handler.Reply {
        guard let bytes = request.rest(from: 6) else { throw WireError.invalidJSON }
        return try publish(bytes, request)
    }

    /// `POST /publish/{p}/{s}/0/{c}/0`: publishes the body.
    @Sendable func postPublish(_ request: WireRequest) throws -> Handler.Reply {
        try publish(request.body, request)
    }

    /// `GET /v1/files/publish-file/{p}/{s}/0/{c}/0/{json}`: publishes a message about a file. The file may be stored on
    /// any server.
    @Sendable func getFileMessage(_ request: WireRequest) throws -> Handler.Reply {
        guard let bytes = request.rest(from: 8) else { throw WireError.invalidJSON }
        let (keyset, channel) = try place(of: request, shiftedBy: 2)
        let payload = try payload(bytes, limit: limits.pubnubMessageBytes, .messageTooLarge)
        var draft = EventDraft.message(
            channel: channel, data: payload.text, user: try request.user(), meta: try meta(request))
        draft.customType = try label(request)
        draft.kind = .file
        store(&draft, as: request, keyset)
        return try sent(draft, keyset, request)
    }

    /// `GET /signal/{p}/{s}/0/{c}/0/{json}`: publishes a signal.
    @Sendable func getSignal(_ request: WireRequest) throws -> Handler.Reply {
        guard let bytes = request.rest(from: 6) else { throw WireError.invalidJSON }
        let (keyset, channel) = try place(of: request)
        let payload = try payload(bytes, limit: limits.signalDataBytes, .signalTooLarge)
        let typing = WireEventMapper(channel: channel, payload, user: try request.user(), label: try label(request))
        guard typing.user != nil, typing.signalFact != nil else { return try sent(typing.signal(), keyset, request) }
        return .later {
            if let place = try await applySignal(typing, chat(keyset, for: request)) { return Self.sent(at: place) }
            return try await sent(typing.signal(), keyset, request).response()
        }
    }

    /// Publishes a payload. The checks run in PubNub's order, because the first failed check determines the response.
    private func publish(_ bytes: [UInt8], _ request: WireRequest) throws -> Handler.Reply {
        let (keyset, channel) = try place(of: request)
        let payload = try payload(bytes, limit: limits.pubnubMessageBytes, .messageTooLarge)
        var typing = WireEventMapper(channel: channel, payload, user: try request.user(), label: try label(request))
        typing.meta = try meta(request)
        var draft = typing.publish()
        store(&draft, as: request, keyset)
        let thread = MappedThread(channel).flatMap { draft.isReply ? $0 : nil }
        guard thread != nil || typing.invitedTo != nil else { return try sent(draft, keyset, request) }
        return .later { [draft, typing] in
            if let thread, let answer = try await sent(draft, in: thread, keyset, request) { return answer }
            var draft = draft
            if try await isKnown(typing, chat(keyset, for: request)), draft.audience == .subscribers {
                draft.audience = .wire
            }
            return try await sent(draft, keyset, request).response()
        }
    }

    /// Publishes a reply. Returns nil when the parent message does not exist or is itself a reply.
    private func sent(
        _ draft: EventDraft, in thread: MappedThread, _ keyset: Keyset, _ request: WireRequest
    ) async throws -> Response? {
        let reply = draft.on(channel: thread.parent)
        var links = MessageLinks(threadOf: thread.root)
        links.keepsMeta = true
        do throws(ChatError) {
            return Self.sent(try await chat(keyset, for: request).post(reply, links))
        } catch {
            guard error.code == .notFound || error.code == .conflict else { throw error }
            return nil
        }
    }

    /// The app and the channel of a publish, from the path.
    ///
    /// - Parameter shift: the number of path segments in front of the segments of an ordinary publish.
    /// - Throws: `WireError.invalidSubscribeKey`, `invalidKey` or `invalidChannel`.
    private func place(of request: WireRequest, shiftedBy shift: Int = 0) throws -> (Keyset, String) {
        let keyset = try keyset(of: request, at: 2 + shift)
        try keyset.require(publishKey: request.segment(1 + shift))
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
        guard Names.isLabel(label) else { throw .invalidLabel }
        return label
    }

    private func meta(_ request: WireRequest) throws(WireError) -> JSONText? {
        // One SDK sends `null` if there is no metadata.
        guard let text = request["meta"], text != "null" else { return nil }
        guard let meta = WirePayload(Array(text.utf8), depth: limits.jsonDepth) else { throw .invalidJSON }
        return meta.text
    }

    /// Sets on the draft whether and for how long the event is stored, and whether only webhooks receive the event.
    private func store(_ draft: inout EventDraft, as request: WireRequest, _ keyset: Keyset) {
        // One SDK sends `store=0` and `ttl=0` without `norep` to fire an event. No other call sends both parameters
        // with these values.
        let isFired = request.flag("norep") || request["store"] == "0" && request["ttl"] == "0"
        if isFired { draft.audience = .webhooks }
        if isFired || !request.flag("store", default: keyset.record.storesByDefault) { draft.retention = .passing }
        if let hours = request["ttl"].flatMap(Double.init), hours > 0, hours < 876_000 {
            draft.timeToLive = .milliseconds(Int64(hours * 3_600_000))
        }
    }

    private func sent(_ draft: EventDraft, _ keyset: Keyset, _ request: WireRequest) throws -> Handler.Reply {
        let chat = chat(keyset, for: request)
        var drafts = [draft]
        let started = try chat.start(&drafts)
        if case .emitted(let outcome) = started { return .now(Self.sent(outcome)) }
        guard case .appendable(let append) = started else {
            return .later { Self.sent(try await chat.finish(started)) }
        }
        return .after(append.begin, isShort: true) {
            guard let outcome = try append.outcome() else {
                return .later { Self.sent(try await chat.finish(append.beforeRules)) }
            }
            return .now(Self.sent(outcome))
        }
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

extension EventDraft {
    /// True for a draft that becomes a reply if it is published to a thread's channel. The draft must be stored, and
    /// its `meta` must be an object or absent, because the reference to the thread is added to `meta`.
    fileprivate var isReply: Bool {
        type == BuiltInTypes.messageCreated && retention == .kept && audience == .subscribers
            && (meta.map { $0.rawMembers() != nil } ?? true)
    }
}

/// Converts messages that were exported from PubNub to event drafts, for an import.
public enum ImportedPublish {
    /// Returns the draft that a publish of a message with these values would create, with the same event type. The
    /// draft contains the original text for PubNub readers.
    ///
    /// - Parameter isFile: true for a message about a file.
    /// - Returns: nil for a payload that is not valid JSON.
    public static func draft(
        channel: String, payload: JSONText, user: String?, label: String?, meta: JSONText?, isFile: Bool = false
    ) -> EventDraft? {
        guard let payload = WirePayload(payload.bytes, depth: Limits().jsonDepth) else { return nil }
        guard !isFile else {
            var draft = EventDraft.message(channel: channel, data: payload.text, user: user, meta: meta)
            draft.customType = label
            draft.kind = .file
            return draft
        }
        var typing = WireEventMapper(channel: channel, payload, user: user, label: label)
        typing.meta = meta
        return typing.publish()
    }
}

/// The payload of a publish: any JSON value.
struct WirePayload {
    private let document: JSONDocument
    /// The original bytes.
    var text: JSONText { document.text }
    /// The parsed value.
    var value: JSONValue { document.root }
    /// The member `type` of a payload that is an object; nil if it is absent or not a string.
    var type: String? { JSONMembers(document)?["type"]?.string }

    /// Parses a payload; nil for bytes that are not JSON (RFC 8259) or are nested deeper than `depth`.
    ///
    /// Member names may repeat, and numbers may have any size, because readers receive the original text and not the
    /// parsed value.
    init?(_ bytes: [UInt8], depth: Int) {
        // The error is discarded, because PubNub's error has the same text for all parsing errors.
        guard
            let document = try? JSONDocument(
                bytes, limits: JSONLimits(depth: depth), numbers: .any, duplicates: .lastWins)
        else { return nil }
        self.document = document
    }
}
