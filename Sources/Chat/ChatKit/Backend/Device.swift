/// The device as which a chat acts and listens: its delegates are spared what it did itself.
public enum Device {
    /// An id that no other device has.
    public static func fresh() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        return "swift-\(random)\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
