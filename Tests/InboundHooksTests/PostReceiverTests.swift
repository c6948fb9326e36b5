import ChatCore
import ChatModel
import Dispatch
import InboundHooks
import JSON
import Locking
import SQLiteEngine
import Signing
import TestSupport
import Testing
import Text

/// Runs jobs one after the other, like the loop of a gateway.
private final class OneThread: TaskExecutor {
    let queue = DispatchQueue(label: "one-thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

@Suite("A post to a source") struct PostReceiverTests {
    /// The body that the signature vectors share.
    static let body =
        #"{"type":"message.created","timestamp":"2023-11-14T22:13:20.000Z","data":{"channel":"general","user":"u_1","text":"héllo"}}"#

    static let push =
        #"{"ref":"refs/heads/main","repository":{"name":"parley","id":186853002},"sender":{"login":"ana"},"weight":100.10}"#

    static func github(_ text: String, secret: String = "topsecret", delivery: String? = "d-1") -> InboundPost {
        let code = MessageAuthentication.code(.sha256, of: Array(text.utf8), key: Secret(text: secret))
        var headers: [InboundPost.Field] = [
            ("X-GitHub-Event", "push"), ("x-hub-signature-256", "sha256=" + Hex.encode(code)),
        ]
        if let delivery { headers.append(("X-GitHub-Delivery", delivery)) }
        return InboundPost(headers, text: text)
    }

    @Test("is mapped outside the executor of its request, which others share")
    func awayFromTheLoop() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s", #"{"scheme":"none","mapping":{"channel":"in","type":"t","data":{"$":"body/a"}}}"#)
            let loop = OneThread()
            // A failing mapping ends before any other wait begins.
            let post = InboundPost(text: "nonsense")
            loop.queue.suspend()
            let accepted = Task(executorPreference: loop) { try? await fixture.gate.accept(post, for: "s") }
            let seen = Task(executorPreference: loop) { fixture.gate.metrics }
            loop.queue.resume()
            #expect(await seen.value.isEmpty, "the next in line need not wait for the mapping")
            _ = await accepted.value
            #expect(fixture.gate.metrics == ["rejected": 1])
        }
    }

    @Test("with GitHub's own vector is accepted")
    func githubVector() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "hello",
                #"{"scheme":"github","secrets":["It's a Secret to Everybody"],"mapping":{"channel":"a","type":"t","data":{}}}"#
            )
            let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
            let post = InboundPost([("X-Hub-Signature-256", signature)], text: "Hello, World!")
            #expect(try await fixture.gate.accept(post, for: "hello").events.count == 1)
        }
    }

    @Test(
        "with the vectors of other schemes is accepted",
        arguments: [
            (
                "github", "topsecret",
                [("X-Hub-Signature-256", "sha256=6cc3ed3859853871c6b36b52ebed4167173507dde1216fe99a723e9787a16f92")]
            ),
            (
                "stripe", "whsec_test_4eC39HqLyjWDarjtT1zdp7dc",
                [
                    (
                        "Stripe-Signature",
                        "t=1700000000,v1=d66f9fe9265a4baf3be1cb276470f98892992c70a7524e151cb3ed26e1d3d5a2"
                    )
                ]
            ),
            ("shopify", "hush", [("X-Shopify-Hmac-Sha256", "UW0q0v7aKt828sdg6Xo7VwPyjqDUe8GnnB0gcFSfH/M=")]),
            (
                "standard", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
                [
                    ("webhook-id", "msg_2YtVJk0aQ9dWc7"), ("webhook-timestamp", "1700000000"),
                    ("webhook-signature", "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8="),
                ]
            ),
        ] as [(String, String, [(String, String)])])
    func vectors(scheme: String, secret: String, headers: [(String, String)]) async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: scheme, secret: secret)
            let post = InboundPost(headers.map { ($0.0, $0.1) }, text: Self.body)
            let receipt = try await fixture.gate.accept(post, for: "s")
            #expect(receipt.events.map(\.event.data.description) == [Self.body])
        }
    }

    @Test("becomes the event of its mapping, the payload byte for byte")
    func mapped() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "github-main",
                #"{"scheme":"github","secrets":["topsecret"],"mapping":{"channel":"repos.{body/repository/name}","type":"github.{header/X-GitHub-Event}","user":"{body/sender/login}","data":{"$":"body"}}}"#
            )
            let receipt = try await fixture.gate.accept(Self.github(Self.push), for: "github-main")
            let event = try #require(receipt.events.first?.event)
            #expect(event.channel.name == "repos.parley")
            #expect(event.type == "github.push")
            #expect(event.user == "ana")
            #expect(event.data.description == Self.push)
            #expect(try await fixture.events(on: "repos.parley").map(\.timetoken) == [event.timetoken])
            #expect(fixture.gate.metrics == ["accepted": 1])
        }
    }

    @Test("with a wrong signature stores nothing, whatever is wrong with it")
    func wrongSignature() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "github", secret: "topsecret")
            var posts = [
                Self.github(Self.push, secret: "other"), InboundPost(text: Self.push),
                InboundPost([("X-Hub-Signature-256", "sha256=zz")], text: Self.push),
                InboundPost([("X-Hub-Signature-256", "")], text: Self.push),
            ]
            var altered = Self.github(Self.push)
            altered.body[5] ^= 1
            posts.append(altered)
            // An unsigned body that is not JSON must not be distinguishable from one that is.
            posts.append(InboundPost(text: "{"))
            for post in posts {
                let error = try await failure { _ = try await fixture.gate.accept(post, for: "s") }
                #expect(error.code == .unauthorized)
                #expect(error.slug == "signature_invalid")
                #expect(error.message == "the signature is not valid")
            }
            #expect(try await fixture.events(on: "in").isEmpty)
            #expect(try await fixture.events(on: ChannelID.systemName).isEmpty)
            #expect(fixture.gate.metrics == ["signature_invalid": 6])
        }
    }

    @Test("signed too long ago is refused", arguments: [(-300, true), (-301, false), (300, true), (301, false)])
    func window(offset: Int64, isAccepted: Bool) async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "standard", secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
            fixture.clock.step(by: .seconds(-offset))
            let post = InboundPost(
                [
                    ("webhook-id", "msg_2YtVJk0aQ9dWc7"), ("webhook-timestamp", "1700000000"),
                    ("webhook-signature", "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8="),
                ], text: Self.body)
            if isAccepted {
                _ = try await fixture.gate.accept(post, for: "s")
            } else {
                #expect(try await failure { _ = try await fixture.gate.accept(post, for: "s") }.code == .unauthorized)
            }
        }
    }

    @Test("repeated by its sender returns the first event")
    func repeated() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "github", secret: "topsecret")
            let first = try await fixture.gate.accept(Self.github(Self.push), for: "s").events[0]
            let again = try await fixture.gate.accept(Self.github(Self.push), for: "s").events[0]
            let next = try await fixture.gate.accept(Self.github(Self.push, delivery: "d-2"), for: "s").events[0]
            #expect(!first.isDuplicate)
            #expect(again.isDuplicate)
            #expect(again.event.timetoken == first.event.timetoken)
            #expect(!next.isDuplicate)
            #expect(try await fixture.events(on: "in").count == 2)
            #expect(fixture.gate.metrics == ["accepted": 2, "duplicate": 1])
        }
    }

    @Test("is repeated only within its own source")
    func repeatedElsewhere() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("one", scheme: "github", secret: "topsecret")
            try await fixture.put("two", scheme: "github", secret: "topsecret")
            for source in ["one", "two"] {
                #expect(
                    try await fixture.gate.accept(Self.github(Self.push), for: source).events[0].isDuplicate == false)
            }
        }
    }

    @Test("is recognised by an id in its body, and by one that is very long")
    func otherIdentities() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "stripe", secret: "k")
            let text = #"{"id":"evt_1","a":1}"#
            let code = MessageAuthentication.code(
                .sha256, of: Array(("1700000000." + text).utf8), key: Secret(text: "k"))
            let post = InboundPost([("Stripe-Signature", "t=1700000000,v1=" + Hex.encode(code))], text: text)
            #expect(try await fixture.gate.accept(post, for: "s").events[0].isDuplicate == false)
            #expect(try await fixture.gate.accept(post, for: "s").events[0].isDuplicate)

            try await fixture.put("g", scheme: "github", secret: "topsecret")
            let long = Self.github(Self.push, delivery: String(repeating: "x", count: 5000))
            #expect(try await fixture.gate.accept(long, for: "g").events[0].isDuplicate == false)
            #expect(try await fixture.gate.accept(long, for: "g").events[0].isDuplicate)
        }
    }

    @Test("may be signed with any of several secrets")
    func rotation() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s", #"{"scheme":"github","secrets":["new","old"],"mapping":{"channel":"in","type":"t","data":{}}}"#)
            for (index, secret) in ["new", "old"].enumerated() {
                _ = try await fixture.gate.accept(
                    Self.github(Self.push, secret: secret, delivery: "\(index)"), for: "s")
            }
            let error = try await failure {
                _ = try await fixture.gate.accept(Self.github(Self.push, secret: "older"), for: "s")
            }
            #expect(error.code == .unauthorized)
        }
    }

    @Test("without required values is refused with each of them named, and reported to the operators")
    func missing() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s",
                #"{"scheme":"none","mapping":{"channel":"{body/a}","type":"t","user":"{header/X-User}","data":{"n":{"$":"body/b"},"t":"{query/q}"}}}"#
            )
            let error = try await failure { _ = try await fixture.gate.accept(InboundPost(text: "{}"), for: "s") }
            #expect(error.code == .invalid)
            #expect(error.slug == "mapping_failed")
            #expect(error.faults.map(\.pointer) == ["#/channel", "#/user", "#/data/n", "#/data/t"])
            #expect(error.message == "the mapping cannot be applied to this post: channel: {body/a} has no value")
            for reference in ["{body/a}", "{header/X-User}", "{body/b}", "{query/q}"] {
                #expect(error.faults.contains { $0.detail.contains(reference) })
            }
            let notice = try #require(try await fixture.events(on: ChannelID.systemName).first)
            #expect(notice.type == "source.rejected")
            #expect(try JSONDocument(notice.data).root["source"]?.string == "s")
        }
    }

    @Test(
        "that maps to a reserved or invalid name is refused",
        arguments: [
            #"{"c":"a,b","t":"x"}"#, #"{"c":"$system","t":"x"}"#, #"{"c":"a*","t":"x"}"#, #"{"c":"","t":"x"}"#,
            #"{"c":"a","t":"message.created"}"#, #"{"c":"a","t":"x y"}"#, #"{"c":"a","t":"a\r\nid: 1"}"#,
            #"{"c":"a\u0000","t":"x"}"#,
        ])
    func badNames(body: String) async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s", #"{"scheme":"none","mapping":{"channel":"{body/c}","type":"{body/t}","data":{}}}"#)
            let error = try await failure { _ = try await fixture.gate.accept(InboundPost(text: body), for: "s") }
            #expect(error.code == .invalid || error.code == .forbidden)
            #expect(try await fixture.events(on: "a").isEmpty)
        }
    }

    @Test("that is no JSON is refused", arguments: ["", "{", "{\"a\":1,\"a\":2}", "\u{FEFF}{}", "[1,]"])
    func noJSON(body: String) async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{"$":"body"}}}"#)
            let error = try await failure { _ = try await fixture.gate.accept(InboundPost(text: body), for: "s") }
            #expect(error.code == .malformed)
        }
    }

    @Test("of any form is accepted where the mapping uses nothing of its body")
    func formless() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s", #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{"q":"{query/q|none}"}}}"#)
            let receipt = try await fixture.gate.accept(InboundPost(query: [("q", "x")], text: "a=b&c"), for: "s")
            #expect(receipt.events[0].event.data.description == #"{"q":"x"}"#)
        }
    }

    @Test("may not be larger than the limits, as it came or as it is mapped")
    func large() async throws {
        var limits = Limits()
        limits.inboundBodyBytes = 1000
        limits.dataBytes = 600
        try await InboundFixture.with(limits: limits) { fixture in
            try await fixture.put(
                "s", #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":[{"$":"body"},{"$":"body"}]}}"#)
            func text(_ count: Int) -> String { "\"" + String(repeating: "x", count: count - 2) + "\"" }
            _ = try await fixture.gate.accept(InboundPost(text: text(250)), for: "s")
            for size in [400, 1000, 1001] {
                let error = try await failure {
                    _ = try await fixture.gate.accept(InboundPost(text: text(size)), for: "s")
                }
                #expect(error.code == .tooLarge)
            }
            #expect(try await fixture.events(on: "a").count == 1)
        }
    }

    @Test("nested deeper than the limit is refused")
    func deep() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{"$":"body"}}}"#)
            let text = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
            let error = try await failure { _ = try await fixture.gate.accept(InboundPost(text: text), for: "s") }
            #expect(error.code == .malformed)
            #expect(error.slug == "too_deep")
        }
    }

    @Test("to an unknown source is not found")
    func unknown() async throws {
        try await InboundFixture.with { fixture in
            let error = try await failure { _ = try await fixture.gate.accept(InboundPost(text: "{}"), for: "x") }
            #expect(error.code == .notFound)
        }
    }

    @Test("cannot flood the operators' channel with errors")
    func flood() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none","mapping":{"channel":"{body/c}","type":"t","data":{}}}"#)
            for _ in 0..<50 {
                _ = try await failure { _ = try await fixture.gate.accept(InboundPost(text: "{}"), for: "s") }
            }
            #expect((1...12).contains(try await fixture.events(on: ChannelID.systemName).count))
            #expect(fixture.gate.metrics["rejected"] == 50)
        }
    }

    @Test("may become several events, each recognised when repeated")
    func several() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s",
                #"{"scheme":"github","secrets":["topsecret"],"mapping":[{"channel":"in","type":"a","data":1},{"channel":"in","type":"b","data":2,"store":false}]}"#
            )
            let events = try await fixture.gate.accept(Self.github(Self.push), for: "s").events
            #expect(events.map(\.event.type) == ["a", "b"])
            #expect(events.map(\.isDuplicate) == [false, false])
            #expect(events[1].event.retention == .passing)
            let again = try await fixture.gate.accept(Self.github(Self.push), for: "s").events
            #expect(again[0].isDuplicate)
            #expect(again[0].event.timetoken == events[0].event.timetoken)
        }
    }

    @Test("in a dry run returns its result and stores nothing")
    func trial() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "s",
                #"{"scheme":"github","secrets":["topsecret"],"mapping":{"channel":"repos.{body/repository/name}","type":"github.push","data":{"$":"body/weight"}}}"#
            )
            let good = try await fixture.gate.test(Self.github(Self.push), for: "s", by: InboundFixture.owner)
            #expect(good.isVerified)
            #expect(good.rejection == nil)
            #expect(good.outcomes.map(\.rendered.channel.name) == ["repos.parley"])
            #expect(good.outcomes.map(\.rendered.data.description) == ["100.10"])
            #expect(good.outcomes[0].prepared != nil)
            let bad = try await fixture.gate.test(
                Self.github(Self.push, secret: "other"), for: "s", by: InboundFixture.owner)
            #expect(!bad.isVerified)
            #expect(bad.rejection == "no signature matches a secret of the source")
            // The mapping's result is shown anyway: the owner may have only the body at hand.
            #expect(bad.outcomes.count == 1)
            let empty = try await fixture.gate.test(Self.github("{}"), for: "s", by: InboundFixture.owner)
            #expect(empty.outcomes.isEmpty)
            #expect(empty.errors.first?.slug == "mapping_failed")
            #expect(try await fixture.events(on: "repos.parley").isEmpty)
            #expect(try await fixture.events(on: ChannelID.systemName).isEmpty)
            let reader = Caller(app: InboundFixture.app, credential: "key_r", scopes: [.read])
            #expect(
                try await failure { _ = try await fixture.gate.test(Self.github("{}"), for: "s", by: reader) }.code
                    == .forbidden)
        }
    }
}
