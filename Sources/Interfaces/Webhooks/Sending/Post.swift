import ChatModel
import HTTPClient
import Signing

/// One delivery as it goes on the wire: the request of an attempt, signed for its moment.
struct Post {
    /// The time one attempt may take, name lookup to last byte (`conventions.md` 10).
    static let timeout: Duration = .seconds(15)

    let webhook: Webhook
    let event: Timetoken
    let type: String
    let channel: String
    let body: [UInt8]
    /// From 1.
    let attempt: Int

    /// - Parameter signer: holds the secrets of the webhook that are active now.
    func request(
        at now: Timetoken, signer: StandardSigner, userAgent: String
    ) throws(StandardSigningError) -> OutboundRequest {
        let id = event.eventID
        let seconds = Int64(now.rawValue / Timetoken.ticksPerSecond)
        return OutboundRequest(
            method: "POST", url: webhook.settings.url,
            headers: [
                ("content-type", "application/json"), ("user-agent", userAgent), ("webhook-id", id),
                ("webhook-timestamp", String(seconds)),
                ("webhook-signature", try signer.signature(id: id, timestamp: seconds, body: body)),
                ("webhook-attempt", String(attempt)), ("webhook-event-type", type),
                ("webhook-channel", Self.headerValue(channel)),
            ], body: body, totalTimeout: Self.timeout)
    }

    /// A name as a field value: what is not visible ASCII, and `%` itself, percent-encoded, as CloudEvents does it
    /// (HTTP binding 3.1.3.2). Channel names are any UTF-8.
    static func headerValue(_ name: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%") }
        guard !name.utf8.allSatisfy(isPlain) else { return name }
        var value: [UInt8] = []
        for byte in name.utf8 {
            if isPlain(byte) {
                value.append(byte)
            } else {
                value.append(UInt8(ascii: "%"))
                value.append(contentsOf: Hex.encode([byte]).utf8.map { $0 >= 0x61 ? $0 - 0x20 : $0 })
            }
        }
        return String(decoding: value, as: UTF8.self)
    }
}

extension Post {
    /// Sends it. What keeps it from being sent is a result like any other.
    func send(with client: Client, at now: Timetoken, userAgent: String) async -> OutboundResult {
        do throws(StandardSigningError) {
            return await client.send(try request(at: now, signer: webhook.signer(at: now), userAgent: userAgent))
        } catch {
            return OutboundResult(failure: .notSigned(error))
        }
    }
}

extension Webhook {
    /// Signs with every secret that is active now.
    func signer(at now: Timetoken) -> StandardSigner {
        StandardSigner(secrets.filter { $0.isActive(at: now) }.map(\.key))
    }
}

extension OutboundFailure {
    static func notSigned(_ error: StandardSigningError) -> OutboundFailure {
        OutboundFailure(.requestInvalid, detail: "not signed: \(error)")
    }
}
