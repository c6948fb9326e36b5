import HTTPServer

/// The routes of a gateway whose store is not open yet. It is alive, but not ready, and rejects all other requests.
enum StartupRoutes {
    static func router(_ configuration: Configuration) -> Router {
        var router = configuration.router
        router.add(
            .get, "/livez",
            handler: Handler(starting: { _ in
                .now(.json(Array(#"{"status":"ok"}"#.utf8), headers: [("Cache-Control", "no-store")]))
            }))
        router.add(
            .get, "/readyz",
            handler: Handler(starting: { _ in throw problem(code: "not_ready", title: "The gateway is not ready") }))
        router.notFound = Handler(starting: { _ in
            throw problem(code: "unavailable", title: "The store cannot be reached")
        })
        return router
    }

    private static func problem(code: String, title: String) -> Problem {
        Problem(
            status: 503, code: code, title: title, detail: "the gateway starts, and waits for its store",
            isRetryable: true, headers: [("Retry-After", "1")])
    }
}
