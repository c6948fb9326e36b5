import ChatModel
import Glibc

/// A setting: its name, its meaning, and the functions that parse and print its value.
///
/// The environment variable of a setting is `PARLEY_` and the name in capitals, with `_` instead of dots.
public struct Setting: Sendable {
    /// The name in the configuration file. Dots separate the levels: `limits.filter_bytes`.
    public let name: String
    /// The unit of the value, such as `bytes` or `seconds`; empty for a text.
    public let unit: String
    /// The meaning of the setting in one sentence, for `--help` and the reference.
    public let summary: String
    /// True when SIGHUP applies a new value of the setting. Requests and connections that begin afterwards use the new
    /// value. False when a new value needs a restart.
    public var isReloadable = false
    /// True when the value is a secret, which is never shown in full.
    var isSecret = false
    let read: @Sendable (inout Configuration, String) throws(SettingError) -> Void
    let show: @Sendable (Configuration) -> String

    /// The name of the setting's environment variable.
    public var environmentName: String {
        "PARLEY_" + name.uppercased().replacing(".", with: "_")
    }

    /// Returns the same setting, marked as reloadable.
    var reloadable: Setting {
        var setting = self
        setting.isReloadable = true
        return setting
    }

    /// Returns the value as text. A secret is replaced by dots.
    public func text(in configuration: Configuration) -> String {
        let text = show(configuration)
        return isSecret && !text.isEmpty ? "••••" : text
    }
}

/// An error in a setting, as a text for the operator.
public struct SettingError: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension Setting {
    static func text(
        _ name: String, _ path: any WritableKeyPath<Configuration, String> & Sendable, _ summary: String
    ) -> Setting {
        Setting(
            name: name, unit: "", summary: summary,
            read: { configuration, text in configuration[keyPath: path] = text }, show: { $0[keyPath: path] })
    }

    /// Creates a setting whose value is a comma-separated list.
    static func list(
        _ name: String, _ path: any WritableKeyPath<Configuration, [String]> & Sendable, _ summary: String
    ) -> Setting {
        Setting(
            name: name, unit: "list", summary: summary,
            read: { configuration, text in
                configuration[keyPath: path] = text.split(separator: ",").map { $0.trimmingSpaces() }
            },
            show: { $0[keyPath: path].joined(separator: ",") })
    }

    static func flag(
        _ name: String, _ path: any WritableKeyPath<Configuration, Bool> & Sendable, _ summary: String
    ) -> Setting {
        Setting(
            name: name, unit: "true|false", summary: summary,
            read: { (configuration, text) throws(SettingError) in
                switch text.lowercased() {
                case "true", "yes", "1": configuration[keyPath: path] = true
                case "false", "no", "0": configuration[keyPath: path] = false
                default: throw SettingError("\(name) must be true or false, not '\(text)'")
                }
            },
            show: { $0[keyPath: path] ? "true" : "false" })
    }

    static func integer(
        _ name: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable, in range: ClosedRange<Int>,
        unit: String, _ summary: String
    ) -> Setting {
        Setting(
            name: name, unit: unit, summary: summary,
            read: { (configuration, text) throws(SettingError) in
                configuration[keyPath: path] = try whole(text, name, range)
            },
            show: { String($0[keyPath: path]) })
    }

    static func seconds(
        _ name: String, _ path: any WritableKeyPath<Configuration, Duration> & Sendable, in range: ClosedRange<Int>,
        _ summary: String
    ) -> Setting {
        Setting(
            name: name, unit: "seconds", summary: summary,
            read: { (configuration, text) throws(SettingError) in
                configuration[keyPath: path] = .seconds(try whole(text, name, range))
            },
            show: { String($0[keyPath: path].components.seconds) })
    }

    private static func whole(
        _ text: String, _ name: String, _ range: ClosedRange<Int>
    ) throws(SettingError) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw SettingError(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return value
    }
}

extension StringProtocol {
    func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[start...end])
    }
}

/// A small file with a secret, as container platforms mount it.
struct KeyFile {
    let path: String

    private static let mostBytes = 64 * 1024

    /// Returns the contents of the file.
    func text() throws(SettingError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.mostBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
        throw SettingError("\(path) is longer than \(Self.mostBytes) bytes")
    }

    private func failure() -> SettingError {
        SettingError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
}
