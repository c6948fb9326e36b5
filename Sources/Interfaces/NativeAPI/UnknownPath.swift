import HTTPServer

extension Problem {
    /// 404 for a path that no interface knows. Outside `/v1/` the client may have meant either interface, so the
    /// problem also has the members of PubNub's errors.
    static func unknownPath(_ path: String) -> Problem {
        var problem = Problem.notFound(path: path)
        guard !path.hasPrefix("/v1/") else { return problem }
        problem.members = [
            ("error", .boolean(true)), ("message", .string("Not found: '\(path)'")), ("service", .string("Balancer")),
        ]
        return problem
    }
}
