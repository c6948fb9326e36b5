import ChatCore
import ChatModel
import HTTPServer
import JSON

/// User calls of the PubNub objects API, and the routes of all objects.
extension PubNubAPI {
    func addObjectRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let family = ErrorFamily.structured("objects")
        func add(
            _ method: HTTPMethod, _ pattern: String, for rule: AccessRule,
            _ action: @escaping @Sendable (WireRequest) async throws -> Response
        ) {
            let pattern = RoutePattern("/v2/objects/{s}" + pattern)
            self.add(method, pattern, method == .get ? .none : body, in: family, for: rule, to: &router, action)
        }
        add(.get, "/uuids", for: .everyone(key: 2), getUsers)
        add(.get, "/uuids/{u}", for: .user(.get, at: 4, key: 2), getUser)
        add(.patch, "/uuids/{u}", for: .user(.update, at: 4, key: 2), patchUser)
        add(.delete, "/uuids/{u}", for: .user(.delete, at: 4, key: 2), deleteUser)
        add(.get, "/uuids/{u}/channels", for: .user(.get, at: 4, key: 2), getMemberships)
        add(.patch, "/uuids/{u}/channels", for: .memberships(limits), patchMemberships)
        add(.get, "/channels", for: .everyone(key: 2), getChannels)
        add(.get, "/channels/{c}", for: .channels(.get, at: 4, key: 2), getChannel)
        add(.patch, "/channels/{c}", for: .channels(.update, at: 4, key: 2), patchChannel)
        add(.delete, "/channels/{c}", for: .channels(.delete, at: 4, key: 2), deleteChannel)
        add(.get, "/channels/{c}/uuids", for: .channels(.get, at: 4, key: 2), getMembers)
        add(.patch, "/channels/{c}/uuids", for: .channels(.manage, at: 4, key: 2), patchMembers)
    }

    private func getUsers(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let page = try ObjectPage(request)
        let include = ObjectInclude(request)
        let users = try await listing { () async throws(ChatError) in
            try await chat(keyset, for: request).users(page.list(keyset.fields(.wireUsers, to: request)))
        }
        return .structured { writer in
            page.print(users, to: &writer) { user, writer in
                keyset.visible(user, to: request).print(include.own, to: &writer)
            }
        }
    }

    private func getUser(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        guard let user = try await chat(keyset, for: request).user(request.segment(4) ?? "") else {
            throw WireError.noObject
        }
        return Self.answer(user, request)
    }

    private func patchUser(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let id = request.segment(4) ?? ""
        let edit = try ObjectBody(request.body, limits).user()
        let chat = chat(keyset, for: request)
        let tag = request.ifMatch
        let user = try await Self.writing("User") { () async throws(ChatError) in
            if let tag {
                let precondition = try Self.require(tag, try await chat.user(id).map { ($0.updated, $0.etag) })
                return try await chat.update(user: id, edit, precondition: precondition)
            }
            return try await Self.upsert { () async throws(ChatError) in
                try await chat.update(user: id, edit)
            } orMake: { () async throws(ChatError) in
                try await chat.put(user: id, edit, precondition: .absent).record
            }
        }
        return Self.answer(user, request)
    }

    private func deleteUser(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let id = request.segment(4) ?? ""
        let chat = chat(keyset, for: request)
        let tag = request.ifMatch
        try await Self.writing("User") { () async throws(ChatError) in
            var precondition = RecordChange.Precondition.none
            if let tag { precondition = try Self.require(tag, try await chat.user(id).map { ($0.updated, $0.etag) }) }
            try await chat.delete(user: id, precondition: precondition)
        }
        return Self.deleted
    }

    private static func answer(_ user: UserRecord, _ request: WireRequest) -> Response {
        let include = ObjectInclude(request)
        return .structured { writer in
            writer.key("data")
            user.print(include.own, to: &writer)
        }
    }
}

// MARK: - Visibility of users in lists

/// The visibility of users in lists. In an app that requires tokens, a list shows only the public fields of a user,
/// unless the caller's token grants access to the user's metadata. Callers with a signature see every field. In an app
/// that does not require tokens, all callers see every field, as at PubNub.
extension Keyset {
    /// The part of a user's record that a list shows to the caller.
    func visible(_ user: UserRecord, to request: WireRequest) -> UserRecord {
        guard let token = request.token, !token.allows(.get, .user, user.id) else { return user }
        return record.publicUserFields.visible(user)
    }

    /// The fields by which the caller may filter and sort a list.
    func fields(_ fields: RecordFields, prefix: String = "", to request: WireRequest) -> RecordFields {
        request.token == nil ? fields : fields.showing(record.publicUserFields, prefix: prefix)
    }
}

// MARK: - Shared steps of writes

extension PubNubAPI {
    static var deleted: Response { .structured { $0.nullMember("data") } }

    /// Runs a list query. Reports an invalid filter or sort order with its location.
    ///
    /// - Throws: `WireError.invalidInput` for an invalid filter or sort order; other errors unchanged.
    func listing<Value: Sendable>(_ body: () async throws(ChatError) -> Value) async throws -> Value {
        do throws(ChatError) {
            return try await body()
        } catch {
            guard let slug = error.slug, ["bad_filter", "bad_sort"].contains(slug) else { throw error }
            let location = slug == "bad_filter" ? "filter" : "sort"
            throw WireError.invalidInput([.init(message: error.message, location: location, kind: "query")])
        }
    }

    /// Runs a write. If a precondition fails, the error has status 412.
    ///
    /// - Parameter what: the kind of object that is written, for the error text.
    static func writing<Value: Sendable>(
        _ what: String, _ body: () async throws(ChatError) -> Value
    ) async throws -> Value {
        do throws(ChatError) {
            return try await body()
        } catch {
            guard error.code == .stale else { throw error }
            throw WireError(status: 412, text: "\(what) to update has been modified after it was read.")
        }
    }

    /// Checks that a record has the `eTag` that a request requires.
    ///
    /// - Returns: the precondition for the write: the record must still have the checked version.
    /// - Throws: `ChatError.stale` when the record has another `eTag` or does not exist.
    static func require(
        _ tag: String, _ record: (updated: Timetoken, etag: String)?
    ) throws(ChatError) -> RecordChange.Precondition {
        guard let record, ObjectTag.text(record.updated) == tag else {
            throw ChatError(.stale, "the record has been changed since it was read")
        }
        return .etag(record.etag)
    }

    /// Updates a record, or creates the record if it does not exist. If the creation fails because another request has
    /// just created the record, runs the update again.
    static func upsert<Value: Sendable>(
        _ update: () async throws(ChatError) -> Value, orMake make: () async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        do throws(ChatError) {
            return try await update()
        } catch {
            guard error.code == .notFound else { throw error }
        }
        do throws(ChatError) {
            return try await make()
        } catch {
            guard error.code == .conflict else { throw error }
            return try await update()
        }
    }
}

extension WireRequest {
    /// The tag that `If-Match` requires; nil when the field is absent or `*`.
    var ifMatch: String? {
        request.headers["If-Match"].map { ObjectTag.text(ofHeader: $0) }.flatMap { $0.isEmpty || $0 == "*" ? nil : $0 }
    }
}

extension WireError {
    static let noObject = WireError(status: 404, text: "Requested object was not found.")
}
