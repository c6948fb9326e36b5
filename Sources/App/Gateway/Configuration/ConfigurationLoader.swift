import ChatModel
import JSON
import YAML

/// The origin of a setting's value.
public enum SettingOrigin: String, Sendable { case `default`, file, environment, flag }

/// A configuration with the origin of each value.
public struct LoadedConfiguration: Sendable {
    /// The values of all settings.
    public var configuration = Configuration()
    /// The origins of values, by the names of settings. A setting that is not listed has its default value.
    var origins: [String: SettingOrigin] = [:]
    /// Warnings about valid but unusual settings, for the log.
    public var warnings: [String] = []
    /// One sentence for each unknown `PARLEY_…` variable, with the most similar name. `serve` logs them as warnings, so
    /// that an older version can start with the variables of a newer version. `config check` treats them as errors.
    public var unknownVariables: [String] = []

    /// Returns the origin of a setting's value.
    public func origin(of setting: Setting) -> SettingOrigin { origins[setting.name] ?? .default }
}

/// Loads settings from a YAML file, then from `PARLEY_*` variables, then from flags. Later sources take precedence.
public enum ConfigurationLoader {
    /// Loads the settings.
    ///
    /// - Parameters:
    ///   - file: the text of the file, and its name for messages; nil when there is no file.
    ///   - environment: all variables of the process. Variables without the prefix `PARLEY_` are ignored.
    ///   - flags: names and values of settings from the command line.
    /// - Throws: `SettingError` with the position of the error. The error for an unknown name contains the most similar
    ///   name.
    public static func load(
        file: (name: String, text: String)?, environment: [String: String], flags: [(name: String, value: String)]
    ) throws(SettingError) -> LoadedConfiguration {
        var loaded = LoadedConfiguration()
        if let file { try read(file.text, named: file.name, into: &loaded) }
        try read(environment, into: &loaded)
        for flag in flags {
            guard let setting = Settings.named(flag.name) else { throw unknown(flag.name, "flag") }
            guard setting.name != "engine" || !DatabaseURL(flag.value).hasPassword else {
                throw SettingError(
                    "--engine must not contain a password, because other accounts of the machine can read the arguments "
                        + "of a process; set PARLEY_ENGINE, engine_file or PGPASSFILE")
            }
            try setting.read(&loaded.configuration, flag.value)
            loaded.origins[setting.name] = .flag
        }
        try loaded.configuration.check()
        return loaded
    }

    private static func read(
        _ text: String, named name: String, into loaded: inout LoadedConfiguration
    ) throws(SettingError) {
        let root: YAMLNode?
        do throws(YAMLError) { root = try YAMLNode.parse(text) } catch {
            throw SettingError("\(name):\(error.place): \(error.reason)")
        }
        guard let root else { return }
        for (path, value, place) in try flatten(root, path: "", at: root.place, file: name) {
            guard let setting = Settings.named(path) else { throw unknown(path, "\(name):\(place)") }
            // YAML rejects a repeated key, but `limits.page_most` and `page_most` inside `limits` are different keys in
            // YAML.
            guard loaded.origins[setting.name] != .file else {
                throw SettingError("\(name):\(place): the setting '\(setting.name)' occurs twice")
            }
            do { try setting.read(&loaded.configuration, value) } catch {
                throw SettingError("\(name):\(place): \(error)")
            }
            loaded.origins[setting.name] = .file
        }
    }

    /// Joins nested names by dots. A joined name has the position of its last part. A list becomes a comma-separated
    /// text.
    private static func flatten(
        _ node: YAMLNode, path: String, at place: YAMLPlace, file: String
    ) throws(SettingError) -> [(String, String, YAMLPlace)] {
        switch node.value {
        case .mapping(let mapping):
            var found: [(String, String, YAMLPlace)] = []
            for (key, value) in mapping {
                guard let name = key.string else {
                    throw SettingError("\(file):\(key.place): the name of a setting must be text")
                }
                found += try flatten(
                    value, path: path.isEmpty ? name : "\(path).\(name)", at: key.place, file: file)
            }
            return found
        case .sequence(let sequence):
            let items = sequence.compactMap(\.string)
            guard items.count == sequence.count else {
                throw SettingError("\(file):\(node.place): \(path) must be a list of plain values")
            }
            return [(path, items.joined(separator: ","), place)]
        case .scalar(let scalar):
            guard !path.isEmpty else {
                throw SettingError("\(file) must contain settings, one 'name: value' per line")
            }
            return [(path, scalar, place)]
        }
    }

    private static func read(
        _ environment: [String: String], into loaded: inout LoadedConfiguration
    ) throws(SettingError) {
        let known = Dictionary(uniqueKeysWithValues: Settings.all.map { ($0.environmentName, $0) })
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("PARLEY_") {
            if let setting = known[name] {
                do { try setting.read(&loaded.configuration, value) } catch { throw SettingError("\(name): \(error)") }
                loaded.origins[setting.name] = .environment
            } else if !Settings.otherVariables.contains(name), !isOfService(name, value) {
                let names = Settings.all.map(\.environmentName) + Settings.otherVariables.sorted()
                let sections =
                    Settings.sections.map { "PARLEY_" + $0.uppercased().replacing(".", with: "_") } + ["PARLEY_"]
                let nearest = nearest(to: name, among: names, in: sections)
                loaded.unknownVariables.append(
                    "\(name) is not a setting" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
            }
        }
    }

    /// Returns true for a variable that Kubernetes sets for a service named `parley` or `parley-…`:
    /// `PARLEY_SERVICE_HOST`, `PARLEY_SERVICE_PORT_HTTP`, `PARLEY_PORT` with an address such as `tcp://10.0.0.1:8080`,
    /// `PARLEY_PORT_8080_TCP_ADDR`.
    private static func isOfService(_ name: String, _ value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
            return true
        }
        if name.hasSuffix("_PORT"), ["tcp://", "udp://", "sctp://"].contains(where: value.hasPrefix) { return true }
        var parts = name.split(separator: "_")
        if let last = parts.last, ["PROTO", "PORT", "ADDR"].contains(last) { parts.removeLast() }
        return parts.count >= 4 && parts[parts.count - 3] == "PORT" && Int(parts[parts.count - 2]) != nil
            && ["TCP", "UDP", "SCTP"].contains(parts[parts.count - 1])
    }

    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
    }

    private static func unknown(_ name: String, _ place: String) -> SettingError {
        let nearest = nearest(to: name, among: Settings.all.map(\.name), in: Settings.sections)
        return SettingError(
            "\(place): '\(name)' is not a setting" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }

    /// Returns the most similar name; nil when no name is similar. In a section, only the part after the prefix is
    /// compared, because a correct prefix such as `limits.` would make all names of the section similar.
    private static func nearest(to name: String, among names: [String], in sections: [String]) -> String? {
        guard let section = sections.first(where: name.hasPrefix) else {
            return NameSuggester(names).nearest(to: name)
        }
        let inside = names.filter { $0.hasPrefix(section) }.map { String($0.dropFirst(section.count)) }
        let found = NameSuggester(inside).nearest(to: String(name.dropFirst(section.count))).map {
            section + $0
        }
        return found ?? NameSuggester(names.filter { !$0.hasPrefix(section) }).nearest(to: name)
    }
}
