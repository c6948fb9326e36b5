import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    static let typeMembers = [
        "description", "owner", "mode", "deprecated", "compatibility", "retention_hours",
    ]

    /// `GET /v1/event-types`: lists the app's types and the gateway's own types, in the order of their names.
    func getEventTypes(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Listing.timedNames + ["prefix", "built_in"])
        let listing = try Listing(parameters, of: request, limits: limits)
        let prefix = try parameters.text("prefix") ?? ""
        let isBuiltIn = try parameters.text("built_in") == nil ? nil : try parameters.flag("built_in")
        let types = try service.chat(for: caller).eventTypes().filter { type in
            type.name.hasPrefix(prefix) && isBuiltIn ?? type.isBuiltIn == type.isBuiltIn
        }
        return Listing.response(
            try listing.page(
                of: types, id: \.name, time: { $0.isBuiltIn ? nil : $0.created }), to: request
        ) { $0.print(to: &$1) }
    }

    /// `GET /v1/event-types/{type}`: returns a declared event type, or 304 when the client has the current version.
    func getEventType(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let type = try service.chat(for: caller).eventType(request.name("type"))
        return Self.response(type).unlessKnown(Self.tag(of: type), to: request.headers)
    }

    /// `PUT /v1/event-types/{type}`: declares an event type, or replaces its settings.
    func putEventType(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let settings = try Self.settings(try requiredFields(request, known: Self.typeMembers), EventTypeSettings())
        let chat = service.chat(for: caller)
        let precondition = try await Self.precondition(of: request) { try chat.eventType(request.name("type")).etag }
        let (type, isNew) = try await Self.meeting(precondition) { () async throws(ChatError) in
            try await chat.declare(request.name("type"), settings, precondition: precondition)
        }
        return Self.response(type, status: isNew ? 201 : 200, headers: isNew ? [("Location", request.path)] : [])
    }

    /// `PATCH /v1/event-types/{type}`: changes the settings of an event type by a merge patch (RFC 7396).
    func patchEventType(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try requiredFields(request, known: Self.typeMembers)
        let chat = service.chat(for: caller)
        let precondition = try await Self.precondition(of: request) { try chat.eventType(request.name("type")).etag }
        return Self.response(
            try await chat.change(eventType: request.name("type"), precondition: precondition) {
                before throws(ChatError) in
                try Self.settings(fields, before)
            })
    }

    /// `DELETE /v1/event-types/{type}`: removes an event type. Returns no content. A type that has schema versions is
    /// removed only with `If-Match`.
    func deleteEventType(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let chat = service.chat(for: caller)
        let etag = try await Precondition(request.headers).etag { try chat.eventType(request.name("type")).etag }
        try await chat.removeEventType(request.name("type"), ifMatch: etag)
        return .empty()
    }

    /// The settings of an event type after the change that a request's body describes. An absent member keeps its
    /// value, and `null` restores the default.
    private static func settings(
        _ fields: Fields, _ before: EventTypeSettings
    ) throws(ChatError) -> EventTypeSettings {
        var settings = before
        let standard = EventTypeSettings()
        if fields.has("description") { settings.description = try fields.string("description") ?? "" }
        if fields.has("owner") { settings.owner = try fields.string("owner") ?? "" }
        if fields.has("deprecated") { settings.deprecated = try fields.string("deprecated") }
        if fields.has("compatibility") {
            settings.compatibility = try compatibility(fields) ?? standard.compatibility
        }
        if fields.has("retention_hours") {
            settings.retention = try fields.integer("retention_hours", in: EventTypeSettings.retentionHours)
                .map { .seconds($0 * 3600) }
        }
        if fields.has("mode") { settings.mode = try mode(fields) ?? standard.mode }
        return settings
    }

    private static func mode(_ fields: Fields) throws(ChatError) -> EventType.Mode? {
        guard let word = try fields.string("mode") else { return nil }
        guard let mode = EventType.Mode(rawValue: word) else {
            throw fields.fault("mode", "enum", "must be 'enforce', 'warn' or 'off'")
        }
        return mode
    }

    static func compatibility(_ fields: Fields) throws(ChatError) -> CompatibilityRule? {
        guard let text = try fields.string("compatibility") else { return nil }
        guard let rule = CompatibilityRule(text) else {
            let known = CompatibilityRule.allTexts.map { "'\($0)'" }.joined(separator: ", ")
            throw fields.fault("compatibility", "enum", "must be one of \(known)")
        }
        return rule
    }

    private static func response(
        _ type: EventType, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        .json(
            JSONText { type.print(to: &$0) }.bytes, status: status,
            headers: [("ETag", tag(of: type))] + headers)
    }

    /// The entity tag of a type. The gateway's own types have no record and change only with a release.
    private static func tag(of type: EventType) -> String {
        type.isBuiltIn ? EntityTag.of(JSONText { type.print(to: &$0) }.bytes) : EntityTag.quoted(type.etag)
    }
}

extension EventType {
    func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", name)
        writer.member("description", settings.description)
        writer.member("owner", settings.owner)
        writer.member("mode", settings.mode.rawValue)
        if let note = settings.deprecated { writer.member("deprecated", note) } else { writer.nullMember("deprecated") }
        writer.member("compatibility", settings.compatibility.text)
        if let retention = settings.retention {
            writer.member("retention_hours", retention.components.seconds / 3600)
        } else {
            writer.nullMember("retention_hours")
        }
        writer.member("origin", origin.rawValue)
        writer.member("built_in", isBuiltIn)
        if latestVersion > 0 {
            writer.member("latest_version", latestVersion)
        } else {
            writer.nullMember("latest_version")
        }
        if isBuiltIn {
            writer.nullMember("created_at")
            writer.nullMember("etag")
            writer.nullMember("updated_at")
        } else {
            writer.member("created_at", created.timestamp)
            writer.member("etag", etag)
            writer.member("updated_at", updated.timestamp)
        }
        writer.endObject()
    }
}
