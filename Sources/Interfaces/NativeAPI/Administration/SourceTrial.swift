import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Signing
import Webhooks

/// `POST /v1/sources/{id}/test`: shows the events that a post would produce. Stores nothing.
extension NativeAPI {
    private static var testMembers: [String] {
        ["method", "headers", "query", "body", "body_base64", "mapping", "request"]
    }

    func testSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.testMembers)
        let id = request.name("id")
        let mapping = fields.member("mapping")?.text
        let trial: MappingTestResult
        if let logged = try fields.string("request") {
            for other in ["method", "headers", "query", "body", "body_base64"] where fields.has(other) {
                throw fields.fault(other, "exclusive", "must be left out, because 'request' names a stored request")
            }
            let logged = try await inbound.receiver.request(logged, of: id, by: caller)
            trial = try await inbound.receiver.test(request: logged, for: id, mapping: mapping, by: caller)
        } else {
            let path = try await inbound.registry.source(id, by: caller).path
            trial = try await inbound.receiver.test(try post(fields, to: path), for: id, mapping: mapping, by: caller)
        }
        var writer = JSONWriter(capacity: 1024)
        try await print(trial, for: caller, to: &writer)
        return .json(writer.bytes)
    }

    /// The post that the body describes.
    private func post(_ fields: Fields, to path: String) throws -> InboundPost {
        let method = try fields.string("method") ?? "POST"
        guard ["POST", "GET", "OPTIONS"].contains(method) else {
            throw fields.fault("method", "enum", "must be POST, GET or OPTIONS")
        }
        var body = try fields.string("body").map { Array($0.utf8) }
        if let encoded = try fields.string("body_base64") {
            guard body == nil else { throw fields.fault("body", "exclusive", "send either 'body' or 'body_base64'") }
            guard let bytes = Base64.decode(encoded) else {
                throw fields.fault("body_base64", "format", "must be Base64")
            }
            body = bytes
        }
        let content = method == "POST" ? try fields.required("body", body) : body ?? []
        return InboundPost(
            headers: try pairs("headers", fields), query: try pairs("query", fields), body: content,
            url: publicURL.isEmpty ? nil : publicURL + path, method: method)
    }

    /// Parses an object of texts, or an array of `{"name":…,"value":…}` in which a name may occur several times.
    private func pairs(_ name: String, _ fields: Fields) throws(ChatError) -> [InboundPost.Field] {
        guard let text = fields.member(name)?.text else { return [] }
        guard let texts = text.rawElements() else {
            guard let object = try fields.object(name, known: nil) else { return [] }
            var pairs: [InboundPost.Field] = []
            for member in object.members {
                guard let value = try object.string(of: member) else { continue }
                pairs.append((member.name, value))
            }
            return pairs
        }
        return try texts.enumerated().map { index, text throws(ChatError) in
            let item = try Fields(text, pointer: "\(fields.pointer)/\(name)/\(index)", known: ["name", "value"])
            return (try item.required("name", try item.string("name")), try item.string("value") ?? "")
        }
    }
}

/// The response to a test of a source.
extension NativeAPI {
    /// Prints the result of a test. The result lists, for each event, whether each webhook would receive it. Events are
    /// listed until the number of listed pairs of event and webhook reaches `Limits.dryRunMatches`. The remaining
    /// events are only counted, in `left_out`.
    private func print(_ trial: MappingTestResult, for caller: Caller, to writer: inout JSONWriter) async throws {
        writer.beginObject()
        writer.member("verified", trial.isVerified)
        if let index = trial.secretIndex { writer.member("secret", index) } else { writer.nullMember("secret") }
        if let rejection = trial.rejection { writer.member("rejection", rejection) }
        if let answer = trial.handshake {
            writer.key("handshake")
            writer.beginObject()
            writer.member("status", answer.status)
            if let type = answer.contentType { writer.member("content_type", type) }
            writer.member("body", answer.body)
            writer.key("headers")
            writer.beginObject()
            for header in answer.headers {
                writer.key(text: header.name)
                writer.string(header.value)
            }
            writer.endObject()
            writer.endObject()
        }
        if let version = trial.mappingVersion {
            writer.member("mapping_version", version)
        } else {
            writer.nullMember("mapping_version")
        }
        writer.key("events")
        writer.beginArray()
        var (matches, listed) = (0, 0)
        var work = ValidationBudget()
        for outcome in trial.outcomes {
            let reach = await reach(of: outcome, for: caller)
            matches += reach.webhooks?.count ?? 0
            guard matches <= limits.dryRunMatches else { break }
            try Task.checkCancellation()
            await print(outcome, reach, for: caller, within: &work, to: &writer)
            listed += 1
        }
        writer.endArray()
        writer.member("left_out", trial.outcomes.count - listed)
        writer.member("dropped", trial.dropped)
        writer.key("errors")
        writer.beginArray()
        for error in trial.errors + trial.outcomes.compactMap(\.refusal) { error.printFaults(to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    private func reach(of outcome: MappingTestResult.Outcome, for caller: Caller) async -> Recipients {
        guard let draft = outcome.prepared else { return Recipients(webhooks: []) }
        return await reach(of: draft, for: caller)
    }

    private func print(
        _ outcome: MappingTestResult.Outcome, _ reach: Recipients, for caller: Caller,
        within work: inout ValidationBudget,
        to writer: inout JSONWriter
    ) async {
        let draft = outcome.rendered
        var warning: Validation?
        if let draft = outcome.prepared {
            warning = await self.warning(about: draft, service.chat(for: caller), within: &work)
        }
        writer.beginObject()
        writer.member("channel", draft.channel.name)
        writer.member("type", draft.type)
        if let user = draft.user { writer.member("user", user) } else { writer.nullMember("user") }
        writer.member("data", draft.data)
        if let meta = draft.meta { writer.member("meta", meta) }
        writer.member("valid", outcome.refusal == nil)
        if let version = outcome.prepared?.schema?.version ?? warning?.version {
            writer.member("schema_version", version)
        } else {
            writer.nullMember("schema_version")
        }
        writer.key("errors")
        writer.beginArray()
        outcome.refusal?.printFaults(to: &writer)
        for fault in warning?.faults ?? [] { fault.print(to: &writer) }
        writer.endArray()
        reach.print(to: &writer)
        writer.endObject()
    }
}
