import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking
import Signing

/// One CloudEvent as received: its context attributes and its data (CloudEvents 1.0.2).
struct CloudEvent {
    /// The attributes, each with its name and JSON text, in the received order. The data is not among them.
    private(set) var attributes: [(name: String, value: JSONText)] = []
    private(set) var texts: [String: String] = [:]
    var data = JSONText.null
    /// The pointer to the event in the body.
    let pointer: String

    /// Adds a context attribute.
    ///
    /// - Throws: `.malformed` for an invalid name (section 2.1: lower-case letters and digits).
    mutating func add(_ name: String, _ value: JSONText, text: String?) throws(ChatError) {
        guard (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
        else {
            throw Fields.fault(
                pointer, "attribute", "the name of an attribute must be 1 to 64 lower-case letters and digits",
                slug: "bad_cloud_event")
        }
        attributes.append((name, value))
        texts[name] = text
    }

    init(pointer: String) { self.pointer = pointer }
}

extension CloudEvent {
    /// The draft of this CloudEvent. Its type is the attribute `type`. Its channel is `named` or, if `named` is nil,
    /// the attribute `subject`. Its deduplication key is derived from `source` and `id`. The other attributes are
    /// stored in `meta.cloudevent`.
    func draft(channel named: String?) throws(ChatError) -> EventDraft {
        guard texts["specversion"] == "1.0" else {
            throw Fields.fault(pointer, "specversion", "specversion must be \"1.0\"", slug: "bad_cloud_event")
        }
        try checkAttributes()
        let id = try required("id")
        let source = try required("source")
        guard let channel = named ?? texts["subject"] else {
            throw Fields.fault(
                pointer, "subject", "the channel is missing; send it as 'subject' or as ?channel=",
                slug: "bad_cloud_event")
        }
        var draft = EventDraft.event(channel: channel, type: try required("type"), data: data, meta: meta)
        // The key is a digest, because a source is a URI of any length. Different pairs give different texts, because
        // an unescaped NUL occurs in neither JSON strings nor header fields.
        draft.deduplicationKey = "ce_" + Base64.encodeURL(sha256(Array((source + "\0" + id).utf8)))
        return draft
    }

    /// Checks the attributes for which the specification sets a type (section 3). Extension attributes may have any
    /// type.
    private func checkAttributes() throws(ChatError) {
        for name in Self.textAttributes where texts[name] == nil && attributes.contains(where: { $0.name == name }) {
            throw Fields.fault(pointer, "type", "attribute '\(name)' must be a string", slug: "bad_cloud_event")
        }
        guard texts["time"].map(Timestamp.isTimestamp) ?? true else {
            throw Fields.fault(
                pointer, "format", "attribute 'time' must be an RFC 3339 timestamp", slug: "bad_cloud_event")
        }
    }

    private static let textAttributes = ["subject", "time", "datacontenttype", "dataschema"]

    private func required(_ name: String) throws(ChatError) -> String {
        guard let text = texts[name], !text.isEmpty else {
            throw Fields.fault(
                pointer, "required", "attribute '\(name)' must be a string and not empty", slug: "bad_cloud_event")
        }
        return text
    }

    private var meta: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.key("cloudevent")
            writer.beginObject()
            for attribute in attributes where attribute.name != "specversion" && attribute.name != "type" {
                writer.key(text: attribute.name)
                writer.raw(attribute.value)
            }
            writer.endObject()
            writer.endObject()
        }
    }
}

extension CloudEvent {
    /// Parses the JSON format (CloudEvents JSON format 1.0.2, section 3).
    init(_ fields: Fields, limits: Limits) throws {
        self.init(pointer: fields.pointer)
        for (name, raw) in fields.members where name != "data" && name != "data_base64" {
            let value = JSONPart(raw)
            guard !value.isNull else { continue }
            guard value.kind != .object, value.kind != .array else {
                throw fields.fault(
                    name, "type", "an attribute must be a string, a number or a boolean", slug: "bad_cloud_event")
            }
            try add(name, raw, text: value.string)
        }
        if let data = fields.raw("data") {
            guard !fields.has("data_base64") else {
                throw fields.fault("data", "exclusive", "send either 'data' or 'data_base64'")
            }
            try Self.requireText(of: fields, media: media)
            self.data = data
        } else if let encoded = try fields.string("data_base64") {
            guard let bytes = Base64.decode(encoded) else {
                throw fields.fault("data_base64", "format", "must be Base64", slug: "bad_cloud_event")
            }
            try read(bytes, of: media, limits)
        }
    }

    private var media: MediaType { MediaType(texts["datacontenttype"] ?? "application/json") }

    /// Requires that the data is a string if its content type is not JSON (JSON format, section 3.1.1).
    private static func requireText(of fields: Fields, media: MediaType) throws {
        guard !media.isJSON else { return }
        guard media.isText else { throw Problem.unsupportedData(media) }
        guard fields.member("data")?.string != nil else {
            throw fields.fault("data", "type", "data of '\(media.text)' must be a string", slug: "bad_cloud_event")
        }
    }

    /// Parses the binary mode: the attributes are `ce-…` header fields, the body is the data.
    init(_ request: Request, limits: Limits) throws {
        self.init(pointer: "#")
        for attribute in try CloudEventHeaders.attributes(of: request.headers.all) {
            try add(attribute.name, JSONText(string: attribute.value), text: attribute.value)
        }
        if let media = request.headers["Content-Type"] {
            try add("datacontenttype", JSONText(string: media), text: media)
        }
        try read(request.body.bytes, of: media, limits)
    }

    /// Converts data to JSON: JSON is kept unchanged, and text becomes a string.
    private mutating func read(_ bytes: [UInt8], of media: MediaType, _ limits: Limits) throws {
        guard !bytes.isEmpty else { return }
        if media.isJSON {
            data = try Fields.parse(bytes, limits: limits).text
            return
        }
        guard media.isText else { throw Problem.unsupportedData(media) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ChatError(.malformed, "the CloudEvent's data must be UTF-8 text", slug: "bad_cloud_event")
        }
        data = JSONText(string: text)
    }
}

extension Problem {
    fileprivate static func unsupportedData(_ media: MediaType) -> Problem {
        unsupportedMediaType(media.text, "the data of a CloudEvent must be JSON or text")
    }

    static func unsupportedMediaType(_ type: String, _ detail: String) -> Problem {
        Problem(
            status: 415, code: "unsupported_media_type", title: "Unsupported media type",
            detail: "'\(type)' is not supported: \(detail)")
    }
}

/// The mode in which a request carries CloudEvents (CloudEvents HTTP protocol binding 1.0.2, section 3), determined by
/// its header fields.
enum CloudEventForm: Equatable {
    case binary, structured, batch
    /// A CloudEvents format other than JSON, which is not supported.
    case foreign

    /// Determines the mode of a request; nil when the request is not a CloudEvent.
    init?(_ headers: Headers) {
        let isMarked = headers.contains("ce-specversion")
        // Nearly all requests have exactly this type.
        guard isMarked || !headers.has("Content-Type", "application/json") else { return nil }
        let media = MediaType(headers["Content-Type"] ?? "")
        // The batch type is checked first, because the type of a single event is a prefix of it.
        if media.type == "application", media.subtype.hasPrefix("cloudevents-batch") {
            self = media.isJSON ? .batch : .foreign
        } else if media.type == "application", media.subtype.hasPrefix("cloudevents") {
            self = media.isJSON || media.subtype == "cloudevents" ? .structured : .foreign
        } else if isMarked {
            self = .binary
        } else {
            return nil
        }
    }
}

extension NativeAPI {
    /// `POST /v1/events` with CloudEvents in any of the three modes. Stores all events or none.
    func postCloudEvents(_ form: CloudEventForm, _ request: Request, _ caller: Caller) throws -> Handler.Reply {
        guard form == .batch else { return try answer(form, request, caller) }
        // Runs off the loop, because even a short body may contain hundreds of events.
        return .later { try await asLongWork { try await answer(form, request, caller).response() } }
    }

    private func answer(_ form: CloudEventForm, _ request: Request, _ caller: Caller) throws -> Handler.Reply {
        let channel = try Parameters(request.query, known: ["channel", "dry_run"]).text("channel")
        var emitRequest = EmitRequest(route: .anyChannel, drafts: [], listPath: Self.eventList)
        switch form {
        case .foreign:
            throw Problem.unsupportedMediaType(
                MediaType(request.headers["Content-Type"] ?? "").text, "CloudEvents must be sent as JSON")
        case .binary:
            try requireBody(of: request, within: limits.emitBodyBytes)
            emitRequest.drafts = [try CloudEvent(request, limits: limits).draft(channel: channel)]
        case .structured:
            try requireBody(of: request, within: limits.emitBodyBytes)
            let fields = try Fields(request.body.bytes, limits: limits, known: nil)
            emitRequest.drafts = [try CloudEvent(fields, limits: limits).draft(channel: channel)]
        case .batch:
            let elements = try BatchElements(request.body.bytes, limits: limits)
            emitRequest.shape = .list
            for element in elements {
                let fields = try element.fields(known: nil)
                emitRequest.drafts.append(try CloudEvent(fields, limits: limits).draft(channel: channel))
            }
        }
        return try answer(&emitRequest, to: request, caller, also: ["channel"])
    }
}
