import ChatModel
import Glibc

/// What the system allows a process, held against what the settings promise.
struct LimitCheck {
    let configuration: Configuration

    /// Files, threads, and room for what is short-lived.
    private static let others = 344

    var findings: [CheckResult] {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return [] }
        // A gateway raises the soft limit to the hard one at its start.
        let most = Int(clamping: limit.rlim_max)
        let needed =
            configuration.connections + configuration.limits.streamsInGateway + configuration.webhookConnections
            + Self.others
        guard most < needed else { return [CheckResult("descriptors", .ok, "\(Self.text(most)) open files allowed")] }
        return [
            CheckResult(
                "descriptors", .warning,
                "\(most) open files are allowed here; connections, limits.streams and webhook.connections may need \(needed)",
                advice: "raise the limit (ulimit -n, LimitNOFILE= of systemd) or lower limits.streams; "
                    + "a service may have another limit than this shell")
        ]
    }

    private static func text(_ count: Int) -> String { count > 1_000_000_000 ? "any number of" : "\(count)" }
}
