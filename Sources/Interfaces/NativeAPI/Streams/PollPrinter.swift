import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Prints the responses of polls. Thousands of polls may wait for the same events, so the last response is reused.
struct PollPrinter {
    private var timetokens: [Timetoken] = []
    /// For each event, the number of the variant of its included objects (``RenderedIncludes/form``); empty without
    /// included objects.
    private var forms: [UInt8] = []
    private var cursor = Timetoken.zero
    /// The last response; nil before the first one.
    private var last: Response?

    /// The response for a batch of events. The last response is reused for the same events. Event ids are unique in the
    /// gateway, so the same events belong to the same app. A response without events does not depend on the app.
    ///
    /// - Parameter included: the objects included with each event; empty when none were requested.
    mutating func answer(_ batch: PollBatch, _ included: [RenderedIncludes] = []) -> Response {
        var (batch, included) = (batch, included)
        batch.fit(&included)
        if let last, cursor == batch.cursor,
            timetokens.elementsEqual(batch.events.lazy.map(\.timetoken)),
            forms.elementsEqual(included.lazy.map(\.form))
        {
            return last
        }
        let response = Self.response(Self.text(of: batch, included, gap: nil))
        last = response
        timetokens = batch.events.map(\.timetoken)
        forms = included.map(\.form)
        cursor = batch.cursor
        return response
    }

    /// Prints the response of a poll that did not wait.
    static func answer(_ batch: PollBatch, _ included: [RenderedIncludes] = [], gap: ResumePosition?) -> Response {
        var response = response(text(of: batch, included, gap: gap))
        if let gap { response.headers.append(("Gateway-Cursor", gap.from.description)) }
        return response
    }

    private static func response(_ text: [UInt8]) -> Response { .json(text, headers: [("Cache-Control", "no-store")]) }

    private static func text(of batch: PollBatch, _ included: [RenderedIncludes], gap: ResumePosition?) -> [UInt8] {
        var writer = JSONWriter(capacity: batch.events.count * 400 + 64)
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for event in batch.events.shown(with: included) { event.print(to: &writer) }
        writer.endArray()
        writer.member("cursor", batch.cursor.description)
        if let gap {
            writer.key("gap")
            writer.beginObject()
            ControlMessage.printGap(gap, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}
