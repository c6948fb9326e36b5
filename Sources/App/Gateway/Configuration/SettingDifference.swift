/// A setting that two configurations have otherwise.
public struct SettingDifference: Sendable {
    public let setting: Setting
    /// As they may be shown: secrets as dots.
    public let before: String
    public let after: String
}

extension Configuration {
    /// The settings that `other` has otherwise, in the order of the table.
    public func differences(to other: Configuration) -> [SettingDifference] {
        Settings.all.compactMap { setting in
            guard setting.show(self) != setting.show(other) else { return nil }
            return SettingDifference(setting: setting, before: setting.text(in: self), after: setting.text(in: other))
        }
    }

    /// This configuration with what a running gateway takes over from a later one.
    func takingOver(_ later: Configuration) throws(SettingError) -> Configuration {
        var next = self
        for setting in Settings.all where setting.isReloadable { try setting.read(&next, setting.show(later)) }
        // What was checked is the later one as a whole, which this is not.
        try next.check()
        return next
    }
}
