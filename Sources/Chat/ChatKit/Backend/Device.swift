/// The device of a chat client. A device's delegates are not called for what the device did itself.
public enum Device {
    /// Returns an id that no other device has.
    public static func fresh() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        return "swift-\(random)\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
