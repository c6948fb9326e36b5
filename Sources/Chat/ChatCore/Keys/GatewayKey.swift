import ChatModel
import JSON
import Locking
public import Signing

/// The gateway's own key: 32 random bytes, drawn at the first start and the same on all nodes of a store. Sessions of pages and
/// stream tickets are sealed with it. No route shows it; where there is a `secrets_key`, it is stored sealed.
extension Keyring {
    static let gatewayKeyRecord = RecordKey(.setting, "gateway-key", in: .gateway)

    /// Seals what the gateway gives out for one purpose, and opens it again.
    public func seal(for purpose: String) -> TextSealer { TextSealer(key: gatewayKey.withLock(\.self), purpose: purpose) }

    /// Reads the stored key, or stores the one that was drawn.
    ///
    /// - Throws: `.unavailable` for a key that cannot be read.
    func loadGatewayKey() async throws(ChatError) {
        let record = Self.gatewayKeyRecord
        let drawn = gatewayKey.withLock(\.self)
        for _ in 0..<2 {
            if let stored = try await directory.read(record) {
                let key = try open(stored)
                return gatewayKey.withLock { $0 = key }
            }
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("key", vault.seal(Base64.encode(drawn.bytes), context: record.vaultContext))
                writer.endObject()
            }
            do {
                _ = try await directory.write([RecordChange(record, body: body, demand: .absent)])
                return
            } catch  where error.code == .conflict {
                // Another node stored its own in between: that one counts.
                continue
            }
        }
        throw ChatError(.unavailable, "the gateway's key can be neither read nor stored")
    }

    private func open(_ record: Record) throws(ChatError) -> Secret {
        let sealed = (try? JSONDocument(record.body))?.root["key"]?.string
        guard let sealed, let text = try? vault.openText(sealed, context: record.key.vaultContext),
            let bytes = Base64.decode(text), bytes.count == Self.gatewayKeyBytes
        else { throw ChatError(.unavailable, "the gateway's key cannot be read; is a key missing in secrets_key?") }
        return Secret(bytes)
    }
}
