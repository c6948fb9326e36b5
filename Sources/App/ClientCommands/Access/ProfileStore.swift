import Glibc
import JSON

/// A named gateway address with an API key.
package struct Profile: Equatable, Sendable {
    package var name: String
    package var address: ServerAddress
    package var key: String

    /// The name of the default profile.
    package static let standard = "default"

    /// Checks the name of a profile: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    ///
    /// - Throws: a usage error for an invalid name.
    static func check(name: String) throws(CommandFailure) {
        let isGood = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains(byte)
        }
        guard isGood, (1...64).contains(name.utf8.count) else {
            throw CommandFailure(
                "a profile's name must be 1 to 64 letters, digits, '.', '_' or '-'; got '\(name)'", code: 2)
        }
    }
}

/// The user's profiles: `$XDG_CONFIG_HOME/parley/profiles.json`, by default below `~/.config`.
///
/// The file contains keys. It is created with mode 0600 in a directory of mode 0700. It is not used if other users may
/// read it.
package struct ProfileStore: Sendable {
    package let path: String
    private let folder: String

    private static let limit = 1024 * 1024

    /// Determines the path of the file from `XDG_CONFIG_HOME` or `HOME`. Does not open the file.
    ///
    /// - Throws: a failure when neither variable contains an absolute path.
    package init(_ environment: [String: String]) throws(CommandFailure) {
        var base = environment["XDG_CONFIG_HOME"] ?? ""
        // A relative path in this variable must be ignored (XDG Base Directory Specification).
        if !base.hasPrefix("/") {
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw CommandFailure("profiles cannot be stored: neither XDG_CONFIG_HOME nor HOME is set")
            }
            base = home + "/.config"
        }
        folder = base + "/parley"
        path = folder + "/profiles.json"
    }

    /// Returns all profiles, ordered by name; empty when the file does not exist.
    ///
    /// - Parameter isNeeded: false to return no profiles, instead of throwing, when this user may not read the file.
    /// - Throws: a failure when the file cannot be read, belongs to another user, or is readable by other users.
    package func load(isNeeded: Bool = true) throws(CommandFailure) -> [Profile] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR || errno == EACCES && !isNeeded { return [] }
            throw failure()
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        guard status.st_uid == geteuid() else {
            throw CommandFailure("\(path) contains keys but belongs to another user, so it was not read")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CommandFailure("\(path) contains keys, and other users can read it; run 'chmod 600 \(path)'")
        }
        let bytes = try InputText.file(path, limit: Self.limit)
        guard let members = (try? JSONDocument(bytes))?.root["profiles"]?.members else {
            throw CommandFailure("\(path) is not a profile file; remove it and run 'parley login' again")
        }
        var profiles: [Profile] = []
        for (name, value) in members {
            guard let url = value["url"]?.string, let key = value["key"]?.string else {
                throw CommandFailure("\(path): profile '\(name)' has no url or key; run 'parley login' again")
            }
            profiles.append(Profile(name: name, address: try ServerAddress(url), key: key))
        }
        return profiles.sorted { $0.name < $1.name }
    }

    /// Adds a profile, or replaces the profile of the same name.
    package func save(_ profile: Profile) throws(CommandFailure) {
        try write(try load().filter { $0.name != profile.name } + [profile])
    }

    /// Removes a profile.
    ///
    /// - Returns: true when there was a profile with this name.
    package func remove(_ name: String) throws(CommandFailure) -> Bool {
        let profiles = try load()
        guard profiles.contains(where: { $0.name == name }) else { return false }
        try write(profiles.filter { $0.name != name })
        return true
    }

    /// Writes a new file and renames it to the old name, so that readers see either the old or the new profiles.
    private func write(_ profiles: [Profile]) throws(CommandFailure) {
        try makeFolder()
        let text = JSONText { writer in
            writer.beginObject()
            writer.key("profiles")
            writer.beginObject()
            for profile in profiles {
                writer.key(text: profile.name)
                writer.beginObject()
                writer.member("url", profile.address.url)
                writer.member("key", profile.key)
                writer.endObject()
            }
            writer.endObject()
            writer.endObject()
        }
        var name = Array((path + ".XXXXXX").utf8CString)
        // mkstemp creates the file with mode 0600.
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure() }
        let bytes = text.bytes + [0x0A]
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard isWritten, rename(name, path) == 0 else {
            let reason = failure(isWritten ? errno : code)
            unlink(name)
            throw reason
        }
    }

    private func makeFolder() throws(CommandFailure) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) == 0 || errno == EEXIST || errno == EISDIR || errno == EROFS else {
                throw CommandFailure("\(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    private func failure(_ code: Int32 = errno) -> CommandFailure {
        CommandFailure("\(path): \(String(cString: strerror(code)))")
    }
}
