import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Returns a handler that authenticates the caller as ``asCaller(_:repeating:isConditional:isHeld:)`` does, and
    /// that also writes an entry to the app's audit log. Used for the administration of an app. If the action changes
    /// records, the entry is part of the same commit. A failed action is recorded only if the caller lacked a right.
    func asAdministrator(
        _ action: String, _ act: @escaping AuthenticatedHandler, repeating: IdempotentRoute = .remembered,
        isConditional: Bool = false
    ) -> Handler {
        let audited: AuthenticatedHandler = { request, caller in
            // The action may compare the request with apps, keys or event types in memory.
            try await service.catchUp()
            let note = service.audit.begin(AuditOperation(action, request, caller), in: caller.app)
            do {
                let response = try await PendingAuditEntry.$current.withValue(note) { try await act(request, caller) }
                await note.conclude(resource: response.createdName)
                return response
            } catch let error as ChatError where error.code == .forbidden {
                await note.conclude(resource: nil, refusal: error.slug ?? error.code.slug)
                throw error
            }
        }
        return asCaller(audited, repeating: repeating, isConditional: isConditional)
    }

    /// Records a sign-in with an invalid credential. The entry belongs to no app, so it is stored in the operator's
    /// audit log.
    func recordFailedSignIn(_ request: Request, _ error: any Error) async {
        guard let error = error as? ChatError, error.slug == "credential_invalid",
            let app = service.keyring.apps.first(where: \.isFirst)
        else { return }
        var operation = AuditOperation("sign_in", request, nil)
        operation.resource = nil
        await service.audit.write(operation, in: app.id, refusal: "credential_invalid")
    }

    /// `GET /v1/audit`: returns a page of the app's audit log. The page can be filtered by actor, action, resource and
    /// result.
    func getAudit(_ request: Request, _ caller: Caller) async throws -> Response {
        let filters = ["actor", "action", "resource", "result"]
        let parameters = try Parameters(request.query, known: filters + Listing.timedNames)
        var query = AuditLog.Query(try Listing(parameters, of: request, limits: limits).list)
        query.actor = try parameters.text("actor")
        query.action = try parameters.text("action")
        query.resource = try parameters.text("resource")
        query.result = try parameters.text("result")
        if let result = query.result, !["done", "refused"].contains(result) {
            throw Parameters.bad("result", "must be 'done' or 'refused'", keyword: "enum")
        }
        let page = try await service.audit.entries(query, by: caller)
        return Listing.response(page, to: request) { entry, writer in
            writer.beginObject()
            writer.member("id", entry.id)
            writer.member("at", entry.at.timestamp)
            entry.printMembers(to: &writer)
            writer.endObject()
        }
    }
}

extension AuditOperation {
    init(_ action: String, _ request: Request, _ caller: Caller?) {
        let names = ["id", "type", "channel", "job", "user"]
        self.init(
            action: action, actor: caller?.credential, user: caller?.user,
            address: request.remoteAddress.description, request: request.id,
            resource: names.lazy.compactMap { request.parameters[$0] }.first)
    }
}

extension Response {
    /// The name of the created resource: the last segment of the `Location` field. Nil when the response has no such
    /// field.
    fileprivate var createdName: String? {
        headers.first { $0.name == "Location" }.flatMap { $0.value.split(separator: "/").last.map(String.init) }
    }
}
