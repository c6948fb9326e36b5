import HTTPServer

extension Problem {
    /// 404 for a path that no interface knows. Nobody can tell which language was meant, so there is one answer for all:
    /// this problem, with the members of PubNub's errors beside its own (`conventions.md` 7, `pubnub-wire.md` 4.2).
    static func unknownPath(_ path: String) -> Problem {
        var problem = Problem.notFound(path: path)
        problem.members = [
            ("error", .boolean(true)), ("message", .string("Not found: '\(path)'")), ("service", .string("Balancer")),
        ]
        return problem
    }
}
