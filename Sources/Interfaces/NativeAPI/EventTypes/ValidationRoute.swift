import ChatKit
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `POST /v1/event-types/{type}/validate`: what a schema says of a payload, whatever the type's mode. Nothing is
    /// stored.
    func postTypeValidation(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["data", "version", "output"])
        let data = try fields.required("data", fields.raw("data"))
        let version = try fields.integer("version", in: 1...limits.versionsPerType)
        let output = try fields.string("output")
        guard output == nil || output == "basic" else { throw fields.fault("output", "enum", "must be 'basic'") }
        // Saying why costs far more than an emit's yes or no.
        let validation = try await Self.awayFromTheLoop(if: true) {
            try await service.chat(for: caller).validate(data, as: request.name("type"), version: version)
        }
        return .json(JSONText(capacity: 512) { validation.print(withBasic: output != nil, to: &$0) }.bytes)
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
