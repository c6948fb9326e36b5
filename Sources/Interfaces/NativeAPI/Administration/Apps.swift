import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    private static let retentionHours = 1...876_000
    /// The writable members of `PATCH /v1/apps/{id}`.
    static let appMembers =
        [
            "name", "require_declared_types", "demand_tokens", "store_by_default", "public_user_fields",
            "retention_hours",
        ] + RatePolicies.memberNames

    /// `GET /v1/apps`: lists all apps, for operators. The response does not contain the apps' keys.
    func getApps(_ request: Request, _ caller: Caller) async throws -> Response {
        try requireOperator(caller)
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try listing.page(of: service.keyring.apps, id: \.id.name, time: { $0.created })
        return Listing.response(page, to: request) { app, writer in
            writer.beginObject()
            app.printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// `POST /v1/apps`: creates an app. Returns the app with its secrets and its first admin key, and status 201. Only
    /// the gateway's operator may call this route.
    func postApp(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try requireOperator(caller)
        let fields = try Fields(request.body.bytes, limits: limits, known: ["name", "retention_hours"])
        let hours = try fields.integer("retention_hours", in: Self.retentionHours)
        let issued = try await service.keyring.issueApp(
            name: try fields.required("name", try fields.string("name")),
            retention: hours.map { .seconds($0 * 3600) }, by: caller)
        if let retention = issued.app.retention {
            try await service.change(issued.app.id, AppChange(retention: .limited(retention)), by: caller)
        }
        let body = JSONText { writer in
            writer.beginObject()
            issued.app.printMembers(to: &writer)
            issued.app.printSecrets(to: &writer)
            writer.member("admin_key", issued.admin.text)
            writer.endObject()
        }
        return .json(
            body.bytes, status: 201, headers: [("Location", "/v1/apps/" + issued.app.id.name), Self.noStore])
    }

    /// `GET /v1/apps/{id}`: returns an app. The app's own admin also receives the app's secrets. An operator may read
    /// any app, without secrets.
    func getApp(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let app = AppID(request.name("id"))
        let isOwn = app == caller.app
        // The checks run in this order and fail with the same message, so that a caller cannot find out whether another
        // app exists.
        if isOwn { try caller.require(.admin) }
        guard isOwn || caller.isOperator, let app = service.keyring.app(app) else {
            throw ChatError(.notFound, "no app has this id")
        }
        let body = JSONText { writer in
            writer.beginObject()
            app.printMembers(to: &writer)
            if isOwn, service.keyring.showsSecrets(to: caller) { app.printSecrets(to: &writer) }
            writer.endObject()
        }
        let tag = EntityTag.quoted(app.etag)
        return Response.json(body.bytes, headers: [Self.noStore, ("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `PATCH /v1/apps/{id}`: changes an app. The app's own admin may change its settings. Operators may change its
    /// rates. Both may change the retention.
    func patchApp(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let app = AppID(request.name("id"))
        guard app == caller.app || caller.isOperator, let former = service.keyring.app(app) else {
            throw ChatError(.notFound, "no app has this id, or the credential belongs to another app")
        }
        try caller.demandWholeApp()
        let fields = try requiredFields(request, known: Self.appMembers)
        var change = AppChange(
            requiresDeclaredTypes: try fields.boolean("require_declared_types"),
            requiresTokens: try fields.boolean("demand_tokens"),
            storesByDefault: try fields.boolean("store_by_default"),
            publicUserFields: try Self.publicUserFields(fields))
        if fields.has("name") { change.name = try fields.required("name", try fields.string("name")) }
        if fields.has("retention_hours") {
            let hours = try fields.integer("retention_hours", in: Self.retentionHours)
            change.retention = hours.map { .limited(.seconds($0 * 3600)) } ?? .forever
        }
        // Sending back an unchanged value requires no right to change the value.
        if change.requiresDeclaredTypes == former.requiresDeclaredTypes { change.requiresDeclaredTypes = nil }
        if change.requiresTokens == former.requiresTokens { change.requiresTokens = nil }
        if change.storesByDefault == former.storesByDefault { change.storesByDefault = nil }
        if change.publicUserFields == former.publicUserFields { change.publicUserFields = nil }
        let rates: ChatService.RatesEdit = { former throws(ChatError) in try RatePolicies(fields, former: former) }
        let hasRates = try rates(former.rates) != former.rates
        let etag = try await Precondition(request.headers).etag { former.etag }
        let changed = try await service.change(app, change, rates: hasRates ? rates : nil, ifMatch: etag, by: caller)
        // The entry is already in the operator's audit log. It is also written to the app's audit log for the app's own
        // admins.
        if app != caller.app { await service.audit.write(AuditOperation("app.update", request, caller), in: app) }
        return .json(
            JSONText { writer in
                writer.beginObject()
                changed.printMembers(to: &writer)
                writer.endObject()
            }.bytes, headers: [("ETag", EntityTag.quoted(changed.etag))])
    }

    /// Parses the change of the public user fields. Returns nil when the member is absent, and the default when the
    /// member is `null`.
    private static func publicUserFields(_ fields: Fields) throws(ChatError) -> PublicUserFields? {
        guard fields.has("public_user_fields") else { return nil }
        guard let names = try fields.strings("public_user_fields") else { return .standard }
        guard let chosen = PublicUserFields(names: names) else {
            let known = PublicUserFields.Field.allCases.map(\.rawValue).joined(separator: ", ")
            let index = names.firstIndex { PublicUserFields(names: [$0]) == nil } ?? 0
            throw fields.fault("public_user_fields/\(index)", "enum", "must be one of \(known)")
        }
        return chosen
    }

    /// `POST /v1/apps/{id}/rotate-secret`: replaces the app's secret. The body is empty or `{"overlap_seconds": …}`.
    func rotateAppSecret(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        guard AppID(request.name("id")) == caller.app else {
            throw ChatError(.notFound, "no app has this id, or the credential belongs to another app")
        }
        let fields = try optionalFields(request, known: ["overlap_seconds"])
        let most = Int(Keyring.longestOverlap.components.seconds)
        let seconds = try fields?.integer("overlap_seconds", in: 0...most) ?? 86_400
        let app = try await service.keyring.rotateSecret(overlap: .seconds(seconds), by: caller)
        let body = JSONText { writer in
            writer.beginObject()
            app.printMembers(to: &writer)
            app.printSecrets(to: &writer)
            writer.endObject()
        }
        return .json(body.bytes, headers: [Self.noStore])
    }

    /// `DELETE /v1/apps/{id}`: removes an app. Returns no content. Only the gateway's operator may call this route.
    func deleteApp(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try requireOperator(caller)
        let id = request.name("id")
        let etag = try await Precondition(request.headers).etag { service.keyring.app(AppID(id))?.etag ?? "" }
        try await service.keyring.removeApp(id, ifMatch: etag, by: caller)
        return .empty()
    }

    func requireOperator(_ caller: Caller) throws(ChatError) {
        guard caller.isOperator else {
            throw ChatError(
                .forbidden, "this request needs an admin key of the first app with access to every channel and type")
        }
    }
}

extension AppRecord {
    fileprivate func printMembers(to writer: inout JSONWriter) {
        writer.member("id", id.name)
        writer.member("name", name)
        if let retention {
            writer.member("retention_hours", retention.components.seconds / 3600)
        } else {
            writer.nullMember("retention_hours")
        }
        writer.member("require_declared_types", requiresDeclaredTypes)
        writer.member("demand_tokens", requiresTokens)
        writer.member("store_by_default", storesByDefault)
        writer.member("public_user_fields", publicUserFields.names)
        rates.print(to: &writer)
        writer.member("created_at", created.timestamp)
        writer.member("etag", etag)
        writer.member("updated_at", updated.timestamp)
    }

    fileprivate func printSecrets(to writer: inout JSONWriter) {
        writer.member("publish_key", publishKey)
        writer.member("subscribe_key", subscribeKey)
        writer.member("secret_key", secretKey)
        if let until = previousSecret?.until { writer.member("previous_secret_until", until.timestamp) }
    }
}
