import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Members whose values change although the resource's version does not.
    private static let measured: Set = [
        "allowed_per_minute", "backlog", "circuit", "failing_since", "joined_member_count", "last_error",
        "last_used_at", "member_count", "open_until", "participant_count",
    ]

    // The request to send instead of a change of a read-only member, by the name of the member.

    static let channelRemedies = [
        "operators": "use PUT or DELETE /v1/channels/{channel}/operators/{user}",
        "frozen": "use PUT or DELETE /v1/channels/{channel}/freeze",
        "pinned_timetoken": "use PUT or DELETE /v1/channels/{channel}/messages/{timetoken}/pin",
    ]
    static let memberRemedies = [
        "state": "accept the invitation with POST /v1/channels/{channel}/invites/{user}/accept",
        "read_timetoken": "use PUT /v1/channels/{channel}/members/{user}/read",
        "delivered_timetoken": "use PUT /v1/channels/{channel}/members/{user}/delivered",
        "hidden": "use PUT or DELETE /v1/channels/{channel}/members/{user}/hidden",
    ]
    static let messageRemedies = [
        "deleted": "use DELETE /v1/channels/{channel}/messages/{timetoken}",
        "reactions": "use PUT or DELETE /v1/channels/{channel}/messages/{timetoken}/reactions/{value}",
        "thread": "send replies to POST /v1/channels/{channel}/messages with 'thread_of'",
    ]
    static let webhookRemedies = [
        "status": "use POST /v1/webhooks/{id}/enable or POST /v1/webhooks/{id}/disable",
        "ed25519_public_key": "use POST /v1/signing-key/rotate", "ed25519_key_id": "use POST /v1/signing-key/rotate",
    ]
    static let keyRemedies = Dictionary(
        uniqueKeysWithValues: ["scopes", "channels", "types", "expires_at", "jwt"].map {
            ($0, "create another key with POST /v1/keys")
        })
    static let appRemedies = ["secret_key": "use POST /v1/apps/{id}/rotate-secret"]
    static let typeRemedies = ["latest_version": "use POST /v1/event-types/{type}/versions"]

    /// Wraps an action that writes a resource, so that clients can send back an object that `read` has returned.
    /// Read-only members are accepted if they have their current values, and are removed before `write` runs. If the
    /// body contains `etag` or `updated_at`, the write fails unless the resource still has this version, as with
    /// `If-Match`. Members of ``measured`` may have any value.
    ///
    /// `read` runs only if the body has read-only members. A member that the resource does not have stays in the body,
    /// and `write` rejects it.
    ///
    /// - Parameters:
    ///   - writable: the members that `write` reads.
    ///   - more: further members that change although the resource's version does not.
    ///   - remedies: for members that other operations change, the request to send instead, in the imperative.
    /// - Throws: `.stale` when `etag` or `updated_at` differs, because the resource has changed since it was read;
    ///   `.malformed`, slug `bad_member`, for a different value of any other member.
    func returning(
        _ writable: [String], measured more: Set<String> = [], remedies: [String: String] = [:],
        from read: @escaping AuthenticatedHandler, to write: @escaping AuthenticatedHandler
    ) -> AuthenticatedHandler {
        { [limits] request, caller in
            // `write` reports the errors of a body that cannot be parsed.
            guard request.method == .put || request.method == .patch,
                let document = try? Fields.parse(request.body.bytes, limits: limits)
            else { return try await write(request, caller) }
            var request = request
            guard let members = document.rawMembers(), members.contains(where: { !writable.contains($0.name) }),
                let (present, tag) = try await Self.presentState(read, request, caller)
            else { return try await write(request, caller) }
            var kept: [(name: String, value: JSONText)] = []
            var faults: [ChatError.FieldError] = []
            for member in members {
                guard !writable.contains(member.name), let value = present[member.name] else {
                    kept.append(member)
                    continue
                }
                guard let given = document.root[member.name], !Self.measured.union(more).contains(member.name) else {
                    continue
                }
                let isVersion = ["etag", "updated_at"].contains(member.name)
                guard !given.means(value) else {
                    // With `If-Match`, the write fails if another write came after the read.
                    if isVersion, let tag, !request.headers.contains("If-Match") {
                        request = request.adding(header: "If-Match", tag)
                    }
                    continue
                }
                guard !isVersion else {
                    throw ChatError(
                        .stale,
                        "#/\(member.name): the resource has changed since it was read; read it again, and repeat the change"
                    )
                }
                faults.append(
                    ChatError.FieldError(
                        pointer: "#/\(member.name)", keyword: "readOnly",
                        detail: "is read-only, and the sent value differs from the current value; leave the member out"
                            + (remedies[member.name].map { ", or " + $0 } ?? "")
                            + (member.name == "user" && writable.contains(ActorName.parameter)
                                ? ". Send the acting user as '\(ActorName.parameter)'" : "")))
            }
            guard faults.isEmpty else {
                var error = ChatError(
                    .malformed, "\(faults[0].place): \(faults[0].detail)", slug: "bad_member")
                error.faults = faults
                throw error
            }
            request.body = RequestBody(bytes: JSONText(members: kept).bytes)
            return try await write(request, caller)
        }
    }

    /// Returns the resource as `GET` returns it, with its tag; nil when the resource does not exist or the caller may
    /// not read it.
    private nonisolated(nonsending) static func presentState(
        _ read: AuthenticatedHandler, _ request: Request, _ caller: Caller
    ) async throws -> (JSONValue, tag: String?)? {
        do {
            let answer = try await read(request.withoutQuery, caller)
            guard case .bytes(let bytes) = answer.body else { return nil }
            return (
                try JSONDocument(bytes, numbers: .lenient).root, answer.headers.first { $0.name == "ETag" }?.value
            )
        } catch let error as ChatError where error.code == .notFound || error.code == .forbidden {
            return nil
        }
    }
}

extension JSONValue {
    /// Returns true when both values are equal. The order of the members of objects does not matter.
    fileprivate func means(_ other: JSONValue) -> Bool {
        if let elements, let others = other.elements {
            return elements.count == others.count && zip(elements, others).allSatisfy { $0.means($1) }
        }
        if let members, let others = other.members {
            return members.count == others.count
                && members.allSatisfy { name, value in other[name].map(value.means) ?? false }
        }
        if let string { return other.string.map { ExactText($0) == ExactText(string) } ?? false }
        if let double { return other.double == double }
        if let boolean { return other.boolean == boolean }
        return isNull && other.isNull
    }
}
