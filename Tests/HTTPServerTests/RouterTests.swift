import HTTPServer
import HTTPSupport
import TestSupport
import Testing

@Suite("The router") struct RouterTests {
    private static func router() -> Router {
        var router = Router(problemBaseURL: "https://gw.example")
        router.add(.get, "/v1/channels/{channel}/events") { .text("events of " + ($0.parameters["channel"] ?? "")) }
        router.add(.get, "/v1/channels/all/events") { _ in .text("all") }
        router.add(.post, "/v1/channels/{channel}/events", body: .collected(limit: 8)) { .text($0.body.text) }
        router.add(.get, "/v1/channels/{channel}/users/{user}") {
            .text(($0.parameters["channel"] ?? "") + "|" + ($0.parameters["user"] ?? ""))
        }
        router.add(.get, "/files/{path*}") { .text($0.parameters["path"] ?? "") }
        router.add(.get, "/") { _ in .text("root") }
        return router
    }

    private func get(_ target: String, _ method: HTTPMethod = .get, headers: Headers = Headers()) async -> Response {
        await Self.router().respond(to: Request(method, target, headers: headers))
    }

    @Test("sends HSTS where that is configured, with errors too")
    func transportSecurity() async {
        var router = Self.router()
        func said(_ target: String) async -> String? {
            let headers = await router.respond(to: Request(.get, target)).headers
            return headers.first { $0.name == "Strict-Transport-Security" }?.value
        }
        #expect(await said("/") == nil)
        router.transportSecuritySeconds = 600
        for target in ["/", "/nothing"] { #expect(await said(target) == "max-age=600", "\(target)") }
    }

    @Test(
        "finds the handler",
        arguments: [
            ("/", "root"), ("/v1/channels/general/events", "events of general"), ("/v1/channels/all/events", "all"),
            ("/v1/channels/all/users/7", "all|7"), ("/v1/ch%61nnels/x/events", "events of x"),
            ("/v1/channels/a%2Fb/events?x=1", "events of a/b"), ("/v1/channels/%E2%82%AC/events", "events of €"),
            ("/files/a/b%20c", "a/b c"), ("/v1/channels/a+b/events", "events of a+b"),
        ])
    func finds(_ target: String, _ text: String) async {
        let response = await get(target)
        #expect(response.status == 200)
        #expect(response.text == text)
    }

    @Test(
        "answers 404 elsewhere",
        arguments: [
            "/v1", "/v1/channels//events", "/v1/channels/a/events/", "//", "/v1/channels/a%2Fevents",
            "/V1/channels/a/events",
            "/v1/../v1/channels/a/events",
        ])
    func notFound(_ target: String) async {
        let response = await get(target)
        #expect(response.status == 404)
        #expect(response.text.contains("\"type\":\"https://gw.example/problems/unknown-route\""))
    }

    @Test("answers 400 where a segment cannot be decoded", arguments: ["%", "%2", "%zz", "%FF", "%00", "a%0Ab", "%7F"])
    func undecodable(_ segment: String) async {
        #expect(await get("/v1/channels/\(segment)/events").status == 400)
    }

    @Test("answers 405 with the methods of the path") func methodNotAllowed() async {
        let response = await get("/v1/channels/a/events", .delete)
        #expect(response.status == 405)
        #expect(response["Allow"] == "GET, POST, HEAD, OPTIONS")
    }

    @Test("lets GET answer HEAD") func head() async {
        #expect(await get("/v1/channels/a/events", .head).status == 200)
    }

    @Test("answers OPTIONS by itself") func options() async {
        let response = await get("/files/x", .options)
        #expect(response.status == 204)
        #expect(response["Allow"] == "GET, HEAD, OPTIONS")
        #expect(response["Access-Control-Allow-Methods"] == nil)
    }

    @Test("holds bodies to the route's limit") func bodyLimit() async {
        let router = Self.router()
        let fits = Request(.post, "/v1/channels/a/events", body: Array("12345678".utf8))
        #expect(await router.respond(to: fits).text == "12345678")
        let exceeds = Request(.post, "/v1/channels/a/events", body: Array("123456789".utf8))
        #expect(await router.respond(to: exceeds).status == 413)
    }

    @Test("answers unknown paths with the configured response") func replacedNotFound() async {
        var router = Self.router()
        router.notFound = Handler(starting: { request in
            var problem = Problem.unknownRoute(path: request.path)
            problem.members = [("error", .boolean(true)), ("service", .string("Balancer"))]
            throw problem
        })
        let response = await router.respond(to: Request(.get, "/nowhere"))
        #expect(response.status == 404)
        #expect(response.text.contains("\"error\":true,\"service\":\"Balancer\""))
    }

    @Test("answers 421 to unknown host names, on every path and before a preflight")
    func hosts() async {
        var router = Self.router()
        router.hosts = .loopback(orListed: ["dev.example:8443"])
        for host in [
            "localhost", "LocalHost:8080", "127.0.0.1:1", "127.0.0.2", "[::1]:8080", "dev.example:8443",
            "DEV.example:8443",
        ] {
            let request = Request(.get, "/nowhere", headers: Headers([("Host", host)]))
            #expect(await router.respond(to: request).status == 404, "\(host)")
        }
        for host in [
            "evil.example", "[abc:80", "127.0.0.1x", "localhost1", "[::1]x", "localhost.evil.example",
            "127.0.0.1.evil.example:80", "dev.example", "", "10.0.0.1",
            "127.evil.example", "127.0.0.256", "127.0.0", "0127.0.0.1", "localhost:80.evil.example",
            "[::1].evil.example",
        ] {
            for method in [HTTPMethod.get, .options, .post] {
                let request = Request(method, "/nowhere", headers: Headers([("Host", host)]))
                #expect(await router.respond(to: request).status == 421, "\(host)")
            }
        }
        #expect(await router.respond(to: Request(.get, "/nowhere", headers: Headers([]))).status == 421)
    }

    @Test("refuses browser requests of an origin that CORS does not list, whatever a route's own policy")
    func crossSite() async {
        var router = Router(cors: CORSPolicy(origins: .loopback))
        router.refusesCrossSite = true
        router.add(.get, "/x", options: RouteOptions(cors: CORSPolicy(origins: .any))) { _ in .text("x") }
        let site = ("Sec-Fetch-Site", "cross-site")
        let foreign: [[(String, String)]] = [
            [site], [site, ("Origin", "https://evil.example")], [site, ("Origin", "null")],
            [site, ("Referer", "https://evil.example/a")], [site, ("Referer", "http://localhost.evil.example/")],
            [site, ("Referer", "http://localhost@evil.example/")], [site, ("Referer", "")],
            [site, ("Origin", "https://evil.example"), ("Referer", "http://localhost/")],
        ]
        for fields in foreign {
            for path in ["/x", "/nowhere"] {
                let request = Request(.get, path, headers: Headers(fields.map { (name: $0.0, value: $0.1) }))
                let answer = await router.respond(to: request)
                #expect(answer.status == 403 && answer.text.contains("cross_site_request"), "\(fields)")
            }
        }
        let known: [[(String, String)]] = [
            [], [("Sec-Fetch-Site", "none")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "same-origin")],
            [site, ("Origin", "http://localhost:5173")], [site, ("Referer", "http://localhost:5173/index.html")],
            [site, ("Referer", "http://[::1]:3/")], [("Origin", "https://evil.example")],
        ]
        for fields in known {
            let request = Request(.get, "/x", headers: Headers(fields.map { (name: $0.0, value: $0.1) }))
            #expect(await router.respond(to: request).status == 200, "\(fields)")
        }
        var page = RouteOptions()
        page.isPage = true
        router.add(.get, "/page", options: page) { _ in .text("page") }
        let link = [site, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
        for (path, fields, status) in [
            ("/page", link, 200), ("/x", link, 403), ("/page", [site], 403),
            ("/page", [site, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")], 403),
        ] {
            let request = Request(.get, path, headers: Headers(fields.map { (name: $0.0, value: $0.1) }))
            #expect(await router.respond(to: request).status == status, "\(path) \(fields)")
        }
        router.cors.origins = .listed(["https://app.example"])
        for (origin, status) in [("https://app.example", 200), ("https://evil.example", 403)] {
            let request = Request(.get, "/x", headers: Headers([("Sec-Fetch-Site", "cross-site"), ("Origin", origin)]))
            #expect(await router.respond(to: request).status == status, "\(origin)")
        }
        router.refusesCrossSite = false
        #expect(await router.respond(to: Request(.get, "/x", headers: Headers([site]))).status == 200)
    }

    @Test("lists its routes in order") func routes() {
        let routes = Self.router().routes.map { "\($0.method) \($0.pattern)" }
        #expect(routes.first == "GET /v1/channels/{channel}/events")
        #expect(routes.count == 6)
    }

    @Test("hides an unknown error's text and reports it to the observer") func unknownError() async {
        struct Secret: Error {}
        var router = Router()
        let outcomes = Observed<[Router.Outcome]>([])
        router.observer = { outcome in outcomes.update { $0.append(outcome) } }
        router.add(.get, "/x/{id}") { _ in throw Secret() }
        let response = await router.respond(to: Request(.get, "/x/1"))
        #expect(response.status == 500)
        #expect(!response.text.contains("Secret"))
        #expect(outcomes.value.map(\.status) == [500])
        #expect(outcomes.value.first?.pattern?.description == "/x/{id}")
    }

    @Test("stays quick with many routes and long paths") func manyRoutes() async {
        var router = Router()
        for index in 0..<2000 { router.add(.get, RoutePattern("/r/\(index)/{a}/{b}")) { _ in .text("\(index)") } }
        #expect(await router.respond(to: Request(.get, "/r/1999/x/y")).text == "1999")
        #expect(await router.respond(to: Request(.get, String(repeating: "/r", count: 20_000))).status == 404)
    }
}

@Suite("CORS") struct CORSTests {
    private static let listed = CORSPolicy(origins: .listed(["https://app.example"]), maxAge: .seconds(600))

    private func respond(_ policy: CORSPolicy, _ method: HTTPMethod, _ headers: [(String, String)]) async -> Response {
        var router = Router(cors: policy)
        router.add(.get, "/x") { _ in .text("x") }
        router.add(.put, "/x", body: .collected(limit: 1)) { _ in .text("x") }
        return await router.respond(
            to: Request(method, "/x", headers: Headers(headers.map { (name: $0.0, value: $0.1) })))
    }

    @Test("names a listed origin, and only that") func listedOrigin() async {
        let allowed = await respond(Self.listed, .get, [("Origin", "https://app.example")])
        #expect(allowed["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(allowed["Vary"] == "Origin")
        #expect(allowed["Access-Control-Expose-Headers"]?.contains("Gateway-Cursor") == true)
        let foreign = await respond(Self.listed, .get, [("Origin", "https://app.example.evil")])
        #expect(foreign["Access-Control-Allow-Origin"] == nil)
        #expect(foreign["Vary"] == "Origin")
    }

    @Test("allows origins of this machine, and none that only looks like one") func loopbackOrigin() async {
        let policy = CORSPolicy(origins: .loopback)
        for origin in ["http://127.0.0.1:8000", "http://localhost", "http://[::1]:3"] {
            #expect(await respond(policy, .get, [("Origin", origin)])["Access-Control-Allow-Origin"] == origin)
        }
        for origin in [
            "http://127.0.0.1.evil", "http://localhost:80.evil", "https://app.example", "null", "http://127.0.0.10",
        ] {
            #expect(await respond(policy, .get, [("Origin", origin)])["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test("answers a preflight with methods, headers and age") func preflight() async {
        let fields = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "PUT")]
        let response = await respond(Self.listed, .options, fields)
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Methods"] == "GET, PUT, HEAD, OPTIONS")
        #expect(response["Access-Control-Allow-Headers"]?.contains("Last-Event-ID") == true)
        #expect(response["Access-Control-Allow-Headers"]?.contains("X-Device-Id") == true)
        #expect(response["Access-Control-Max-Age"] == "600")
        let foreign = await respond(
            Self.listed, .options, [("Origin", "https://evil"), ("Access-Control-Request-Method", "PUT")])
        #expect(foreign["Access-Control-Allow-Methods"] == nil)
    }

    @Test("answers a preflight where a route has OPTIONS of its own") func preflightBesideOptions() async {
        var router = Router(cors: Self.listed)
        router.add(.post, "/x", body: .collected(limit: 1)) { _ in .text("x") }
        router.add(.options, "/x") { _ in .text("its own") }
        let browser = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "POST")]
        let preflight = await router.respond(
            to: Request(.options, "/x", headers: Headers(browser.map { (name: $0.0, value: $0.1) })))
        #expect(preflight["Access-Control-Allow-Methods"] == "POST, OPTIONS")
        #expect(await router.respond(to: Request(.options, "/x")).text == "its own")
    }

    @Test("goes with problems too") func problems() async {
        let response = await respond(Self.listed, .delete, [("Origin", "https://app.example")])
        #expect(response.status == 405)
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example")
    }

    @Test("allows every origin only where that is configured") func star() async {
        let any = await respond(CORSPolicy(origins: .any), .get, [("Origin", "https://x")])
        #expect(any["Access-Control-Allow-Origin"] == "*")
        let none = await respond(CORSPolicy(), .get, [("Origin", "https://x")])
        #expect(none["Access-Control-Allow-Origin"] == nil)
        #expect(none["Vary"] == nil)
    }
}

extension Response {
    var text: String {
        switch body {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .fixed(let bytes): String(decoding: bytes.buffer, as: UTF8.self)
        case .empty, .pieces, .stream, .deferred: ""
        }
    }

    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension RequestBody {
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
