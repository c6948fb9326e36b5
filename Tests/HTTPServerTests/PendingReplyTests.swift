import HTTPServer
import Locking
import TestSupport
import Testing

@Suite("A reply that waits for an operation") struct PendingReplyTests {
    struct Secret: Error {}

    private static var taskName: String { withUnsafeCurrentTask { $0 == nil ? "no task" : "a task" } }

    /// A reply to an operation that ends on another thread with the number 7.
    private static func seven(_ conclude: @escaping @Sendable (Int) throws -> Handler.Reply) -> Handler.Reply {
        let result = Lock(0)
        return .after(
            { completed in
                Task.detached {
                    result.withLock { $0 = 7 }
                    completed()
                }
            }, conclude: { try conclude(result.withLock { $0 }) })
    }

    private static func routes(_ router: inout Router, _ loop: Loop) {
        func add(_ path: RoutePattern, _ reply: @escaping @Sendable () -> Handler.Reply) {
            router.add(.get, path, handler: Handler(starting: { _ in reply() }))
        }
        add("/result") { seven { .now(.text("\($0) in \(taskName) on the loop: \(loop.isCurrent)")) } }
        add("/task") { seven { number in .later { .text("\(number) in \(taskName)") } } }
        add("/problem") { seven { _ in throw Problem(status: 409, code: "taken", title: "Taken") } }
        add("/error") { seven { _ in throw Secret() } }
        add("/long") { seven { _ in .now(.text(String(repeating: "long ", count: 100_000))) } }
        add("/at-once") { .after({ completed in completed() }, conclude: { .now(.text("at once")) }) }
        let recover: Handler.Recovery = { .text("recovered from \($0)") }
        let mark: @Sendable (Response) -> Response = { response in
            var response = response
            response.headers.append(("X-Mark", "yes"))
            return response
        }
        add("/marked") { seven { .now(.text("\($0)")) }.map(mark, recover: recover) }
        add("/marked-task") { seven { number in .later { .text("\(number)") } }.map(mark, recover: recover) }
        add("/marked-twice") {
            seven { .now(.text("\($0)")) }.map(mark, recover: recover).map(mark, recover: recover)
        }
        add("/recovered") { seven { _ in throw Secret() }.map(mark, recover: recover) }
        add("/recovered-task") { seven { _ in .later { throw Secret() } }.map(mark, recover: recover) }
    }

    @Test("responds on the loop and without a task, and runs a task only for the rest")
    func results() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for _ in 0..<3 {
                #expect(try wire.ask("GET", "/result").text == "7 in no task on the loop: true")
                #expect(try wire.ask("GET", "/task").text == "7 in a task")
                #expect(try wire.ask("GET", "/problem").status == 409)
                #expect(try wire.ask("GET", "/error").status == 500)
                #expect(try wire.ask("GET", "/long").text.utf8.count == 500_000)
                #expect(try wire.ask("GET", "/at-once").text == "at once")
            }
        }
    }

    @Test("may be changed, and may recover from an error")
    func changes() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for path in ["/marked", "/marked-task"] {
                let answer = try wire.ask("GET", path)
                #expect(answer.text == "7")
                #expect(answer["X-Mark"] == "yes")
            }
            let twice = try wire.ask("GET", "/marked-twice")
            #expect(twice.headers.filter { $0.name.lowercased() == "x-mark" }.count == 2)
            for path in ["/recovered", "/recovered-task"] {
                #expect(try wire.ask("GET", path).text == "recovered from Secret()")
            }
        }
    }

    @Test("returns its response or its error to an async caller")
    func awaited() async throws {
        let reply = Self.seven { number in .later { .text("\(number)") } }
        #expect(try await reply.response().status == 200)
        let failing = Self.seven { _ in throw Secret() }
        await #expect(throws: Secret.self) { try await failing.response() }
    }

    @Test("cancels its task if the client leaves")
    func cancelled() async throws {
        let waiting = Observed<[@Sendable () -> Void]>([])
        let cancelled = Observed(false)
        let routes: (inout Router, Loop) -> Void = { router, _ in
            router.add(
                .get, "/wait",
                handler: Handler(starting: { _ in
                    .after({ completed in waiting.update { $0.append(completed) } }) {
                        .later {
                            await AsyncSignal().wait()  // Ends only when the task is cancelled.
                            cancelled.update { $0 = Task.isCancelled }
                            return .empty()
                        }
                    }
                }))
        }
        try await withServer(routes: routes) { server in
            let wire = try server.wire()
            wire.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
            waiting.waitBlocking { $0.count == 1 }
            wire.close()
            for completed in waiting.value { completed() }
            cancelled.waitBlocking { $0 }
        }
    }

    @Test("does not affect other requests if its client leaves")
    func clientLeft() async throws {
        let waiting = Observed<[@Sendable () -> Void]>([])
        let routes: (inout Router, Loop) -> Void = { router, _ in
            router.add(
                .get, "/wait",
                handler: Handler(starting: { _ in
                    .after({ completed in waiting.update { $0.append(completed) } }, conclude: { .now(.text("done")) })
                }))
        }
        try await withServer(routes: routes) { server in
            let leaving = try server.wire()
            leaving.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
            waiting.waitBlocking { $0.count == 1 }
            leaving.close()
            let staying = try server.wire()
            staying.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
            waiting.waitBlocking { $0.count == 2 }
            for completed in waiting.value { completed() }
            #expect(try staying.answer().text == "done")
        }
    }
}
