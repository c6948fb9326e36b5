import ChatModel
import JSON
import Locking
public import Signing
import Text

/// The gateway's own key: 32 random bytes, generated at the first start and shared by all nodes of a store. It seals
/// dashboard sessions and stream tickets. No route shows it; with a `secrets_key` it is stored encrypted.
extension Keyring {
    static let gatewayKeyRecord = RecordKey(.setting, "gateway-key", in: .gateway)

    /// Returns a sealer for values that the gateway issues for one purpose, and reads back later.
    public func seal(for purpose: String) -> TextSealer {
        TextSealer(key: gatewayKey.withLock(\.self), purpose: purpose)
    }

    /// Reads the stored key, or stores the generated one.
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
                _ = try await directory.write([RecordChange(record, body: body, precondition: .absent)])
                return
            } catch  where error.code == .conflict {
                // Another node has stored its key in between; that key is used.
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
