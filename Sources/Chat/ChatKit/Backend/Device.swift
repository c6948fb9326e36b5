/// Creates ids of devices. A device is one running chat client of a user. The delegates of a device are not called for
/// changes that the device itself makes.
public enum Device {
    /// Returns an id that no other device has.
    public static func fresh() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        return "swift-\(random)\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
