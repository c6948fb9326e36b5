import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `POST /v1/event-types/{type}/validate`: validates a payload against a schema of the event type, regardless
    /// of the type's mode. Stores nothing.
    func postTypeValidation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["data", "version", "output"])
        let data = try fields.required("data", fields.raw("data"))
        let version = try fields.integer("version", in: 1...limits.versionsPerType)
        let output = try fields.string("output")
        guard output == nil || output == "basic" else { throw fields.fault("output", "enum", "must be 'basic'") }
        let validation = try await service.chat(for: caller)
            .validate(data, as: request.name("type"), version: version)
        return .json(JSONText(capacity: 512) { validation.print(withBasic: output != nil, to: &$0) }.bytes)
    }

    /// `POST /v1/event-types/{type}/infer`: makes a first draft of a schema from the latest events. The body is empty
    /// or `{"last": …, "closed": …}`.
    func postInference(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["last", "closed"])
        let last = try fields?.integer("last", in: 1...ChatAccess.draftEventsMost) ?? 100
        let isClosed = try fields?.boolean("closed") ?? false
        let draft = try await service.chat(for: caller)
            .draftSchema(of: request.name("type"), last: last, closesObjects: isClosed)
        let body = JSONText(capacity: draft.schema.count + 64) { writer in
            writer.beginObject()
            writer.member("type", request.name("type"))
            writer.member("events", draft.events)
            writer.member("schema", draft.schema)
            writer.endObject()
        }
        return .json(body.bytes)
    }
}

extension Validation {
    func print(withBasic: Bool = false, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("valid", isValid)
        writer.member("type", type)
        if let version { writer.member("version", version) } else { writer.nullMember("version") }
        writer.key("errors")
        writer.beginArray()
        for fault in faults { fault.print(to: &writer) }
        writer.endArray()
        writer.member("truncated", isTruncated)
        if withBasic {
            writer.key("output")
            printBasic(to: &writer)
        }
        writer.endObject()
    }
}
