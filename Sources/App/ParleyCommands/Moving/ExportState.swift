import ChatModel
import ClientCommands
import Glibc
import JSON

/// The progress of an export for each channel, stored in a file, so that a later run does not read the exported
/// messages again.
struct ExportState {
    /// The progress of one channel. A run reads the history from the newest message to the oldest. An interrupted run
    /// therefore leaves a gap between its messages and the messages of earlier runs.
    struct Channel: Equatable {
        /// The timetoken up to which all messages were exported.
        var done: UInt64 = 0
        /// The timetoken of the newest message of an unfinished run; zero when no run is unfinished. The run has
        /// exported the messages from `next` up to this timetoken.
        var top: UInt64 = 0
        var next: UInt64 = 0
    }

    let path: String?
    let subscribeKey: String
    private(set) var channels: [ExactText: Channel] = [:]

    private static let bytesMost = 256 * 1024 * 1024

    /// Reads the state from a file. The state is empty when the file does not exist.
    ///
    /// - Parameter path: the path of the file; nil to store nothing.
    init(path: String?, subscribeKey: String) throws(CommandFailure) {
        self.path = path
        self.subscribeKey = subscribeKey
        guard let path, access(path, F_OK) == 0 else { return }
        guard let root = try? JSONDocument(try InputText.file(path, limit: Self.bytesMost)).root,
            let members = root["channels"]?.members
        else { throw CommandFailure("\(path) is not the state of an export; use another file, or remove it") }
        guard root["subscribe_key"]?.string == subscribeKey else {
            throw CommandFailure("\(path) is the state of another keyset's export; use another file")
        }
        for (name, value) in members {
            func place(_ member: String) -> UInt64 { value[member]?.string.flatMap { UInt64($0) } ?? 0 }
            channels[ExactText(name)] = Channel(done: place("done"), top: place("top"), next: place("next"))
        }
    }

    subscript(channel: String) -> Channel {
        get { channels[ExactText(channel)] ?? Channel() }
        set { channels[ExactText(channel)] = newValue }
    }

    /// Replaces the file atomically, so that it contains either the old or the new state.
    func save() throws(CommandFailure) {
        guard let path else { return }
        let text = JSONText(capacity: channels.count * 80 + 64) { writer in
            writer.beginObject()
            writer.member("subscribe_key", subscribeKey)
            writer.key("channels")
            writer.beginObject()
            for (name, channel) in channels.sorted(by: { $0.key < $1.key }) {
                writer.key(text: name.text)
                writer.beginObject()
                writer.member("done", String(channel.done))
                if channel.top > 0 {
                    writer.member("top", String(channel.top))
                    writer.member("next", String(channel.next))
                }
                writer.endObject()
            }
            writer.endObject()
            writer.endObject()
        }
        let draft = path + ".new"
        unlink(draft)
        do {
            try Self.write(text.bytes, to: draft)
        } catch {
            throw CommandFailure("\(draft) cannot be written: \(error.reason)")
        }
        guard rename(draft, path) == 0 else {
            throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    private struct Refused: Error { let reason: String }

    private static func write(_ bytes: [UInt8], to path: String) throws(Refused) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Refused(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Refused(reason: String(cString: strerror(errno))) }
            written += count
        }
        guard fsync(descriptor) == 0 else { throw Refused(reason: String(cString: strerror(errno))) }
    }
}
