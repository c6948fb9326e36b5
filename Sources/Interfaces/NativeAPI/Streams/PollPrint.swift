import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Prints the answers of polls. Thousands may wait for the same events: they share the last one's bytes.
struct PollPrint {
    private var timetokens: [Timetoken] = []
    private var cursor = Timetoken.zero
    private var text: [UInt8] = []

    /// Events are unique in the installation, so what they are tells the app as well; an answer without any is the same for
    /// all.
    mutating func answer(_ batch: PollBatch) -> Response {
        let isSame =
            cursor == batch.cursor
            && timetokens.elementsEqual(batch.events.lazy.map(\.timetoken))
        if !isSame {
            text = Self.text(of: batch, gap: nil)
            timetokens = batch.events.map(\.timetoken)
            cursor = batch.cursor
        }
        return Self.response(text)
    }

    /// An answer of a poll that did not wait.
    static func answer(_ batch: PollBatch, gap: Resumption?) -> Response {
        var response = response(text(of: batch, gap: gap))
        if let gap { response.headers.append(("Gateway-Cursor", gap.from.description)) }
        return response
    }

    private static func response(_ text: [UInt8]) -> Response { .json(text, headers: [("Cache-Control", "no-store")]) }

    private static func text(of batch: PollBatch, gap: Resumption?) -> [UInt8] {
        var writer = JSONWriter(capacity: batch.events.count * 400 + 64)
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for event in batch.events { event.printEnvelope(to: &writer) }
        writer.endArray()
        writer.member("cursor", batch.cursor.description)
        if let gap {
            writer.key("gap")
            writer.beginObject()
            ControlBlock.printGap(gap, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}
