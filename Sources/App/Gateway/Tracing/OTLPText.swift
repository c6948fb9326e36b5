import ChatCore
import ChatModel
import JSON

/// Prints trace spans in the JSON form of OTLP (OpenTelemetry Protocol, `ExportTraceServiceRequest`). Ids are in
/// hexadecimal, and times are in nanoseconds as strings.
enum OTLPText {
    static func request(_ spans: [Span], version: String) -> JSONText {
        JSONText(capacity: 512 * spans.count + 256) { writer in
            writer.beginObject()
            writer.key("resourceSpans")
            writer.beginArray()
            writer.beginObject()
            writer.key("resource")
            writer.beginObject()
            print(
                [("service.name", .text("parley")), ("service.version", .text(version))], to: &writer)
            writer.endObject()
            writer.key("scopeSpans")
            writer.beginArray()
            writer.beginObject()
            writer.key("scope")
            writer.beginObject()
            writer.member("name", "parley")
            writer.endObject()
            writer.key("spans")
            writer.beginArray()
            for span in spans { print(span, to: &writer) }
            writer.endArray()
            writer.endObject()
            writer.endArray()
            writer.endObject()
            writer.endArray()
            writer.endObject()
        }
    }

    private static func print(_ span: Span, to writer: inout JSONWriter) {
        writer.beginObject()
        print(span.context, to: &writer)
        if let parent = span.parent { writer.member("parentSpanId", TraceID.hex(parent)) }
        writer.member("name", span.name)
        writer.member("kind", span.kind.rawValue)
        writer.member("startTimeUnixNano", nanoseconds(span.start))
        writer.member("endTimeUnixNano", nanoseconds(max(span.start, span.end)))
        print(span.attributes + (span.failure.map { [("error.type", .text($0))] } ?? []), to: &writer)
        if !span.links.isEmpty {
            writer.key("links")
            writer.beginArray()
            for link in span.links {
                writer.beginObject()
                print(link, to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.key("status")
        writer.beginObject()
        if span.failure != nil { writer.member("code", 2) }
        writer.endObject()
        writer.endObject()
    }

    private static func print(_ context: TraceContext, to writer: inout JSONWriter) {
        writer.member("traceId", context.traceID.description)
        writer.member("spanId", TraceID.hex(context.spanID))
        if let state = context.state { writer.member("traceState", state) }
    }

    private static func print(_ attributes: [(name: String, value: Span.Value)], to writer: inout JSONWriter) {
        writer.key("attributes")
        writer.beginArray()
        for (name, value) in attributes {
            writer.beginObject()
            writer.member("key", name)
            writer.key("value")
            writer.beginObject()
            switch value {
            case .text(let text): writer.member("stringValue", text)
            // The JSON form of protobuf has 64-bit numbers as strings.
            case .integer(let number): writer.member("intValue", String(number))
            }
            writer.endObject()
            writer.endObject()
        }
        writer.endArray()
    }

    private static func nanoseconds(_ moment: Timetoken) -> String { moment.description + "00" }
}
