import ChatModel
import HTTPClient
import JSON
import Signing
import Text

/// Posts events to a URL in the format of the gateway's webhooks (docs/webhooks.md). Each event is posted once, without
/// retries.
struct EventForwarder: Sendable {
    let url: String
    let key: StandardSigningKey
    let client: Client
    var clock = WallClock.system

    /// The outcome of posting one event.
    struct Outcome: Sendable {
        let event: String
        let type: String
        let status: Int?
        let latency: Duration
        /// The raw value of an `OutboundFailure.Reason`; nil when there was a response.
        let failure: String?

        var isGood: Bool { failure == nil && status.map { (200..<300).contains($0) } ?? false }
    }

    func post(_ envelope: JSONText, _ event: JSONValue) async throws(CommandFailure) -> Outcome {
        let id = event["id"]?.string ?? ""
        let type = event["type"]?.string ?? ""
        let seconds = Int64(clock.now.rawValue / Timetoken.ticksPerSecond)
        let signature: String
        do {
            signature = try StandardSigner([key]).signature(id: id, timestamp: seconds, body: envelope.bytes)
        } catch {
            throw CommandFailure("event '\(id)' cannot be signed: \(error)")
        }
        let result = await client.send(
            OutboundRequest(
                method: "POST", url: url,
                headers: [
                    ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(seconds)),
                    ("webhook-signature", signature), ("webhook-attempt", "1"), ("webhook-event-type", type),
                    ("webhook-channel", PercentEncoding.encode(event["channel"]?.string ?? "", keeping: .fieldValue)),
                ], body: envelope.bytes))
        return Outcome(
            event: id, type: type, status: result.status, latency: result.timings.total,
            failure: result.failure?.reason.rawValue)
    }
}

extension EventForwarder.Outcome {
    func text(_ style: Style) -> String {
        let mark = status.map(String.init) ?? failure ?? "no response"
        let broken = status != nil ? failure.map { " \($0)" } ?? "" : ""
        return [
            isGood ? style.good(mark) : style.bad(mark + broken), "\(milliseconds) ms",
            style.heading(SanitizedText.safe(type)),
            style.faint(SanitizedText.safe(event)),
        ].joined(separator: "  ")
    }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("event", event)
            writer.member("type", type)
            if let status { writer.member("status", status) } else { writer.nullMember("status") }
            if let failure { writer.member("error", failure) } else { writer.nullMember("error") }
            writer.member("duration_ms", milliseconds)
            writer.endObject()
        }
    }

    private var milliseconds: Int { Int((latency / .milliseconds(1)).rounded()) }
}
