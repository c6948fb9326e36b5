public import ChatCore
import ChatModel
public import JSON

/// A message as a keyset's history has it: for whoever moves it here.
public enum ImportedPublish {
    /// What its publish would be here: the same type, and the sent text kept for this wire's readers.
    ///
    /// - Parameter isFile: whether it announces a file.
    /// - Returns: nil for a payload that this gateway takes for no JSON.
    public static func emission(
        channel: String, payload: JSONText, user: String?, label: String?, meta: JSONText?, isFile: Bool = false
    ) -> Emission? {
        guard let payload = WirePayload(payload.bytes, depth: Limits().jsonDepth) else { return nil }
        guard !isFile else {
            var emission = Emission.message(channel: channel, data: payload.text, user: user, meta: meta)
            emission.customType = label
            emission.kind = .file
            return emission
        }
        var typing = WireEventMapper(channel: channel, payload, user: user, label: label)
        typing.meta = meta
        return typing.publish()
    }
}
