import ChatModel
import JSON
import Locking
public import Signing
import Text

/// The gateway's own key: 32 random bytes, generated at the first start and shared by all nodes that use the store. It
/// encrypts dashboard sessions and stream tickets. No route returns it. With the setting `secrets_key`, it is stored
/// encrypted.
extension Keyring {
    static let gatewayKeyRecord = RecordKey(.setting, "gateway-key", in: .gateway)

    /// Returns a sealer that encrypts the values that the gateway issues for one purpose, and later decrypts them.
    public func seal(for purpose: String) -> TextSealer {
        TextSealer(key: gatewayKey.withLock(\.self), purpose: purpose)
    }

    /// Loads the stored key. If there is none, stores the key that this process generated.
    ///
    /// - Throws: `.unavailable` when the key can be neither read nor stored.
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
                // Another node stored its key first. The next attempt loads that key.
                continue
            }
        }
        throw ChatError(.unavailable, "the gateway's internal key can be neither read nor stored")
    }

    private func open(_ record: Record) throws(ChatError) -> Secret {
        let sealed = (try? JSONDocument(record.body))?.root["key"]?.string
        guard let sealed, let text = try? vault.openText(sealed, context: record.key.vaultContext),
            let bytes = Base64.decode(text), bytes.count == Self.gatewayKeyBytes
        else {
            throw ChatError(.unavailable, "the gateway's internal key cannot be read; is a key missing in secrets_key?")
        }
        return Secret(bytes)
    }
}
