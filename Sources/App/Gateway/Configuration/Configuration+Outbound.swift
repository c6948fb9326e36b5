import Glibc

extension Configuration {
    /// Requests to receivers of webhooks under way at once: as many as are set, unless they would take more than a quarter of
    /// the descriptors the system allows, which streams need as well.
    var outboundConnections: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return webhookConnections }
        return min(webhookConnections, max(64, Int(clamping: limit.rlim_cur) / 4))
    }
}
