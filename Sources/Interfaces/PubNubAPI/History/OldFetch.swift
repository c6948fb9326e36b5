import ChatCore
import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// `GET /v2/history/sub-key/{s}/channel/{c}`: returns an array of the items, the position of the first item, and
    /// the position of the last item.
    func getOldHistory(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channel = try readable([request.segment(5) ?? ""])[0]
        guard let asked = Int(request["count"] ?? "100"), asked >= 0 else { throw WireError.unreadable }
        let wanted = FetchRequest(
            old: request.flag("reverse"), start: try request.timetoken("start"), end: try request.timetoken("end"),
            limit: asked == 0 ? 100 : min(asked, 100))
        let events = try await fetch(
            wanted, limit: wanted.limit, [channel], keyset, chat(keyset, for: request))[0]
        let form = LegacyItemFormat(request)
        return .wire { writer in
            writer.beginArray()
            writer.beginArray()
            for event in events { form.print(event, to: &writer) }
            writer.endArray()
            form.print(events.first?.timetoken ?? .zero, to: &writer)
            form.print(events.last?.timetoken ?? .zero, to: &writer)
            writer.endArray()
        }
    }
}

/// The format of an item in history version 2: the payload alone, or an object with payload, position and metadata.
private struct LegacyItemFormat {
    let showsPosition: Bool
    let showsMeta: Bool
    let isText: Bool

    init(_ request: WireRequest) {
        showsPosition = request.flag("include_token")
        showsMeta = request.flag("include_meta")
        isText = request.flag("string_message_token")
    }

    func print(_ event: Event, to writer: inout JSONWriter) {
        guard let shown = VisiblePayload(event) else { return }
        guard showsPosition || showsMeta else { return writer.raw(shown.payload) }
        writer.beginObject()
        writer.member("message", shown.payload)
        if showsPosition {
            writer.key("timetoken")
            print(event.timetoken, to: &writer)
        }
        if showsMeta { writer.member("meta", shown.meta ?? JSONText(string: "")) }
        writer.endObject()
    }

    func print(_ position: Timetoken, to writer: inout JSONWriter) {
        if isText { writer.string(position.description) } else { writer.integer(position.rawValue) }
    }
}
