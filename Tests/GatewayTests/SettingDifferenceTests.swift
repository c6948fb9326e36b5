import ChatModel
import Testing

@testable import Gateway

@Suite("Two configurations") struct SettingDifferenceTests {
    @Test("differ in the settings with different values, secrets masked")
    func differences() {
        var later = Configuration()
        later.limits.pageMost = 100
        later.adminKey = "sixteen-letters!"
        let differences = Configuration().differences(to: later)
        #expect(differences.map(\.setting.name) == ["admin_key", "limits.page_most"])
        #expect(differences.map(\.before) == ["", "250"])
        #expect(differences.map(\.after) == ["••••", "100"])
        #expect(later.differences(to: later).isEmpty)
    }

    @Test("merge into one with the reloadable settings of the second, and nothing else", arguments: Settings.all)
    func takingOver(_ setting: Setting) throws {
        guard let other = Self.others[setting.name] ?? Self.another(setting) else {
            Issue.record("no second value for \(setting.name): add one to the test")
            return
        }
        var later = Configuration()
        try setting.read(&later, other)
        // Some settings depend on each other.
        if setting.name == "limits.page_most" { later.limits.pageDefault = 1 }
        #expect(setting.show(later) != setting.show(Configuration()))
        let next = try Configuration().applying(later)
        #expect((setting.show(next) == setting.show(later)) == setting.isReloadable)
    }

    private static let others = [
        "listen": "127.0.0.1:9000", "public_url": "https://a.example", "webhook.verification": "echo",
        "log_level": "error", "webhook.allow": "10.0.0.0/8", "otlp.endpoint": "https://a.example",
        "otlp.headers": "a=b", "otlp.sample_ratio": "0.5", "log_format": "json",
    ]

    /// Returns a different value: another number, the opposite boolean, or any text.
    private static func another(_ setting: Setting) -> String? {
        let text = setting.show(Configuration())
        if let number = Int(text) {
            return [number + 1, number - 1].map(String.init).first { candidate in
                var configuration = Configuration()
                // A value out of range is refused; the caller asks exactly that.
                return (try? setting.read(&configuration, candidate)) != nil
            }
        }
        if setting.unit == "true|false" { return text == "true" ? "false" : "true" }
        return setting.unit.isEmpty || setting.unit == "list" ? "other" : nil
    }

    @Test("are refused where reloaded and unchanged settings contradict")
    func mixed() {
        var now = Configuration()
        now.isDevelopment = false
        var later = now
        later.limits.pageDefault = 400
        later.limits.pageMost = 300
        #expect(throws: SettingError.self) { try now.applying(later) }
    }
}
