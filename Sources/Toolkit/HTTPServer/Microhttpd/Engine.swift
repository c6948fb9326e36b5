import Logging
final class Engine: Sendable {
    init(options: ServerOptions, router: Router, loop: Loop, logger: Logger) {}
    var address: Server.Address? { nil }
    func start() async throws {}
    func run(onDrain: @escaping @Sendable () async -> Void) async throws {}
    func metrics() async -> ServerMetrics { ServerMetrics() }
    func checkStreamLimits(for address: RemoteAddress) throws(Problem) {}
}
