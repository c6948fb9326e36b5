import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import Signing
import TestSupport
import Testing
import Text

@testable import InboundHooks

@Suite("The log of a source's requests") struct RequestLogTests {
    private static let mapping = #"{"channel":"in","type":"posted","data":{"$":"body/a"}}"#

    private static func with(_ body: @escaping @Sendable (InboundFixture) async throws -> Void) async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"github","secrets":["old","topsecret"],"mapping":\#(mapping)}"#)
            try await body(fixture)
        }
    }

    @Test("has every request with its result, newest first")
    func outcomes() async throws {
        try await Self.with { fixture in
            _ = try await fixture.gate.accept(PostReceiverTests.github(#"{"a":1}"#), for: "s")
            fixture.clock.advance(by: .seconds(1))
            _ = try await fixture.gate.accept(PostReceiverTests.github(#"{"a":1}"#), for: "s")
            fixture.clock.advance(by: .seconds(1))
            _ = try? await fixture.gate.accept(PostReceiverTests.github("{}", delivery: "d-2"), for: "s")
            fixture.clock.advance(by: .seconds(1))
            _ = try? await fixture.gate.accept(PostReceiverTests.github("{}", secret: "wrong"), for: "s")
            let requests = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)
            #expect(requests.map(\.outcome) == [.signatureInvalid, .rejected, .duplicate, .accepted])
            #expect(requests.map(\.secretIndex) == [nil, 1, 1, 1])
            #expect(requests[0].reason == "no signature matches a secret of the source")
            #expect(requests[1].faults.map(\.pointer) == ["#/data"])
            #expect(requests[3].events.count == 1)
            #expect(requests[3].events == requests[2].events)
            #expect(String(decoding: requests[3].body, as: UTF8.self) == #"{"a":1}"#)
            #expect(Set(requests.map(\.id)).count == 4)
        }
    }

    @Test("masks signatures and credentials")
    func covered() async throws {
        try await Self.with { fixture in
            var post = PostReceiverTests.github(#"{"a":1}"#)
            post.headers += [("Authorization", "Bearer x"), ("X-Api-Key", "y"), ("Cookie", "z"), ("Accept", "a/b")]
            post.query = [("token", "t"), ("page", "1")]
            _ = try await fixture.gate.accept(post, for: "s")
            let request = try #require(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).first)
            let shown = request.headers.filter { $0.value != "***" }.map(\.name)
            #expect(shown == ["X-GitHub-Event", "X-GitHub-Delivery", "Accept"])
            #expect(request.query.map(\.value) == ["***", "1"])
        }
    }

    @Test("keeps the beginning of a long body, which cannot be replayed")
    func long() async throws {
        try await Self.with { fixture in
            let text = #"{"a":"\#(String(repeating: "x", count: 20_000))"}"#
            _ = try await fixture.gate.accept(PostReceiverTests.github(text), for: "s")
            let request = try #require(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).first)
            #expect(request.body.count == 16 * 1024)
            #expect(request.bodyBytes == text.utf8.count)
            let error = try await failure {
                _ = try await fixture.gate.replay(request.id, of: "s", url: nil, by: InboundFixture.owner)
            }
            #expect(error.slug == "not_replayable")
        }
    }

    @Test("keeps a long post completely if it was verified and rejected, until it is replayed")
    func whole() async throws {
        try await Self.with { fixture in
            let text = #"{"b":"\#(String(repeating: "x", count: 40_000))"}"#
            _ = try? await fixture.gate.accept(PostReceiverTests.github(text), for: "s")
            // Accepted requests do not displace it.
            for number in 0..<200 {
                _ = try await fixture.gate.accept(
                    PostReceiverTests.github(#"{"a":1}"#, delivery: "n-\(number)"), for: "s")
            }
            let refused = try await fixture.gate.requests(of: "s", by: InboundFixture.owner).filter {
                $0.outcome == .rejected
            }
            let request = try #require(refused.first)
            #expect(request.body == Array(text.utf8) && !request.isTruncated)
            let mended = #"{"channel":"in","type":"t","data":{"$":"body/b"}}"#
            try await fixture.put("s", #"{"scheme":"github","mapping":\#(mended)}"#)
            let receipt = try await fixture.gate.replay(request.id, of: "s", url: nil, by: InboundFixture.owner)
            #expect(receipt.events.count == 1)
        }
    }

    /// Waits until the directory holds `count` requests.
    private static func stored(_ count: Int, in fixture: InboundFixture) async throws -> [Record] {
        var found: [Record] = []
        try await waitUntil {
            found = try await fixture.engine.directory.list(
                RecordQuery(.inboundRequest, in: InboundFixture.app, limit: 500)
            ).items
            return found.count == count
        }
        try #require(found.count == count, "\(found.map(\.key.id))")
        return found
    }

    @Test("keeps verified, rejected posts over a restart, with signatures and credentials masked")
    func restarted() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/chat.db"
        let text = #"{"b":"\#(String(repeating: "é", count: 20_000))"}"#
        try await InboundFixture.with(path: path) { fixture in
            try await fixture.put("s", #"{"scheme":"github","secrets":["old","topsecret"],"mapping":\#(Self.mapping)}"#)
            var post = PostReceiverTests.github(text)
            post.headers += [("Authorization", "Bearer opens"), ("X-Twice", "1"), ("X-Twice", "2")]
            post.query = [("token", "opens"), ("page", "1")]
            _ = try? await fixture.gate.accept(post, for: "s")
            _ = try await fixture.gate.accept(PostReceiverTests.github(#"{"a":1}"#, delivery: "taken"), for: "s")
            _ = try? await fixture.gate.accept(PostReceiverTests.github("{}", secret: "wrong"), for: "s")
        }
        try await InboundFixture.with(path: path) { fixture in
            let records = try await Self.stored(1, in: fixture)
            #expect(!records[0].body.description.contains("opens"))
            let requests = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)
            let request = try #require(requests.first)
            #expect(requests.count == 1 && request.outcome == .rejected && request.secretIndex == 1)
            #expect(request.body == Array(text.utf8) && !request.isTruncated)
            #expect(request.faults.map(\.pointer) == ["#/data"] && request.reason?.isEmpty == false)
            #expect(request.headers.filter { $0.name == "X-Twice" }.map(\.value) == ["1", "2"])
            #expect(request.query.map(\.value) == ["***", "1"])
            let asked = #"{"channel":"in","type":"t","data":"{query/token}"}"#
            let trial = try await fixture.gate.test(
                request: request, for: "s", mapping: JSONText(trusted: Array(asked.utf8)), by: InboundFixture.owner)
            #expect(trial.outcomes.isEmpty && trial.isVerified)
            let mended = #"{"channel":"in","type":"t","data":{"$":"body/b"}}"#
            try await fixture.put("s", #"{"scheme":"github","mapping":\#(mended)}"#)
            let receipt = try await fixture.gate.replay(request.id, of: "s", url: nil, by: InboundFixture.owner)
            #expect(receipt.events.map(\.isDuplicate) == [false])
            // A repeat by the sender is the same delivery.
            let again = try await fixture.gate.accept(PostReceiverTests.github(text), for: "s")
            #expect(again.events.map(\.isDuplicate) == [true])
        }
    }

    @Test("does not try for ever to store a post that is larger than the store takes in one piece")
    func enormous() async throws {
        var limits = Limits()
        limits.inboundBodyBytes = 9 * 1024 * 1024
        try await InboundFixture.with(limits: limits) { fixture in
            try await fixture.put("s", scheme: "github", secret: "topsecret")
            for length in [8 * 1024 * 1024, 100_000] {
                let text = "\"\(String(repeating: "x", count: length))\""
                let refusal = try await failure {
                    _ = try await fixture.gate.accept(PostReceiverTests.github(text), for: "s")
                }
                #expect(refusal.code == .tooLarge)
            }
            #expect(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).count == 2)
            let stored = try await Self.stored(1, in: fixture)
            #expect(stored[0].body.count < 200_000)
        }
    }

    @Test("drops rejected posts after thirty days and with their source, whatever happens in between")
    func forgotten() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/chat.db"
        let source = #"{"scheme":"github","secrets":["topsecret"],"mapping":\#(Self.mapping)}"#
        try await InboundFixture.with(path: path) { fixture in
            for id in ["deleted", "old", "orphaned", "renewed"] {
                try await fixture.put(id, source)
                _ = try? await fixture.gate.accept(PostReceiverTests.github("{}"), for: id)
            }
            _ = try await Self.stored(4, in: fixture)
            try await fixture.registry.delete("deleted", by: InboundFixture.owner)
            _ = try await Self.stored(3, in: fixture)
        }
        // The state after a crash between the removal of a source and that of its posts.
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, logger: ChatFixture.quiet))
        let keys = ["orphaned", "renewed"].map { RecordKey(.source, $0, in: InboundFixture.app) }
        let renewed = try #require(try await engine.directory.read(keys[1])?.body.description)
            .replacing(
                #""created":"\#(InboundFixture.start)""#,
                with: #""created":"\#(InboundFixture.start.adding(.seconds(1)))""#)
        _ = try await engine.directory.write([
            RecordChange(keys[0], body: nil), RecordChange(keys[1], body: JSONText(trusted: Array(renewed.utf8))),
        ])
        await engine.close()
        try await InboundFixture.with(path: path) { fixture in
            #expect(try await Self.stored(1, in: fixture)[0].parent == "old")
            #expect(try await fixture.gate.requests(of: "renewed", by: InboundFixture.owner).isEmpty)
            #expect(try await fixture.gate.requests(of: "old", by: InboundFixture.owner).count == 1)
            let earlier = try await fixture.gate.requests(of: "old", by: InboundFixture.owner)[0].id
            fixture.clock.advance(by: .seconds(31 * 24 * 3600))
            _ = try? await fixture.gate.accept(PostReceiverTests.github("{}"), for: "old")
            let later = try await fixture.gate.requests(of: "old", by: InboundFixture.owner)
            #expect(later.count == 1 && later[0].id != earlier)
        }
    }

    @Test("does not try a truncated body as if it were complete")
    func cutTrial() async throws {
        try await Self.with { fixture in
            let text = #"{"a":"\#(String(repeating: "x", count: 20_000))"}"#
            _ = try await fixture.gate.accept(PostReceiverTests.github(text), for: "s")
            let request = try #require(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).first)
            let error = try await failure {
                _ = try await fixture.gate.test(request: request, for: "s", mapping: nil, by: InboundFixture.owner)
            }
            #expect(error.slug == "not_replayable")
        }
    }

    @Test("passes neither masked values nor truncated bodies to a mapping")
    func coveredIsAbsent() async throws {
        try await Self.with { fixture in
            var post = PostReceiverTests.github(#"{"a":1}"#)
            post.headers += [("X-Api-Token", "t"), ("X-Long", String(repeating: "l", count: 2000)), ("X-Short", "s")]
            post.query = [("secret", "q"), ("page", "2")]
            _ = try await fixture.gate.accept(post, for: "s")
            let request = try #require(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).first)
            func data(_ references: String) async throws -> String? {
                let mapping = #"{"channel":"in","type":"t","data":"\#(references)"}"#
                return try await fixture.gate.test(
                    request: request, for: "s", mapping: JSONText(trusted: Array(mapping.utf8)),
                    by: InboundFixture.owner
                ).outcomes.first?.rendered.data.description
            }
            #expect(try await data("{header/X-Short} {query/page}") == #""s 2""#)
            for reference in ["{header/X-Api-Token}", "{header/X-Long}", "{query/secret}"] {
                #expect(try await data(reference) == nil, "\(reference)")
            }
        }
    }

    @Test("lists posts beyond the size limit without their body")
    func tooLarge() async throws {
        var limits = Limits()
        limits.inboundBodyBytes = 1000
        try await InboundFixture.with(limits: limits) { fixture in
            try await fixture.put("s", scheme: "github", secret: "topsecret")
            let post = PostReceiverTests.github(String(repeating: "x", count: 1001))
            #expect(try await failure { _ = try await fixture.gate.accept(post, for: "s") }.code == .tooLarge)
            let request = try #require(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).first)
            #expect(request.outcome == .rejected && request.body.isEmpty && request.bodyBytes == 1001)
            #expect(fixture.gate.metrics == ["rejected": 1])
        }
    }

    @Test("allows the replay of a request once its mapping is corrected, and finds its events again")
    func replay() async throws {
        try await Self.with { fixture in
            let post = PostReceiverTests.github(#"{"b":2}"#)
            _ = try? await fixture.gate.accept(post, for: "s")
            let id = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)[0].id
            let mended = #"{"channel":"in","type":"posted","data":{"$":"body/b"}}"#
            let trial = try await fixture.gate.test(
                request: try await fixture.gate.request(id, of: "s", by: InboundFixture.owner), for: "s",
                mapping: JSONText(trusted: Array(mended.utf8)), by: InboundFixture.owner)
            #expect(trial.outcomes.map(\.rendered.data.description) == ["2"])
            try await fixture.put("s", #"{"scheme":"github","mapping":\#(mended)}"#)
            let receipt = try await fixture.gate.replay(id, of: "s", url: nil, by: InboundFixture.owner)
            #expect(receipt.events.map(\.isDuplicate) == [false])
            #expect(
                try await fixture.gate.replay(id, of: "s", url: nil, by: InboundFixture.owner).events.map(\.isDuplicate)
                    == [true])
            // A repeat by the sender is the same delivery.
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [true])
            let requests = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)
            #expect(requests.compactMap(\.replayOf).count == 2)
            #expect(Set(requests.map(\.mappingVersion)) == [1, 2])
        }
    }

    @Test("refuses to replay unverified requests, and callers who may not emit their events")
    func unverified() async throws {
        try await Self.with { fixture in
            _ = try? await fixture.gate.accept(PostReceiverTests.github("{}", secret: "wrong"), for: "s")
            let id = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)[0].id
            let error = try await failure {
                _ = try await fixture.gate.replay(id, of: "s", url: nil, by: InboundFixture.owner)
            }
            #expect(error.slug == "not_verified")
            let narrow = try Self.narrow()
            let refusal = try await failure { _ = try await fixture.gate.replay(id, of: "s", url: nil, by: narrow) }
            #expect(refusal.code == .forbidden)
        }
    }

    /// A caller with `manage` who does not reach everything that the source emits.
    private static func narrow() throws -> Caller {
        Caller(
            app: InboundFixture.app, credential: "key_n", scopes: [.manage],
            channels: [try #require(NamePattern("x"))],
            types: [.all])
    }

    @Test("is closed to callers who reach less than the source")
    func narrowReach() async throws {
        try await Self.with { fixture in
            _ = try await fixture.gate.accept(PostReceiverTests.github(#"{"a":1}"#), for: "s")
            let logged = try await fixture.gate.requests(of: "s", by: InboundFixture.owner)[0]
            let narrow = try Self.narrow()
            let refusals = [
                try await failure { _ = try await fixture.gate.requests(of: "s", by: narrow) },
                try await failure { _ = try await fixture.gate.request(logged.id, of: "s", by: narrow) },
                try await failure {
                    _ = try await fixture.gate.test(request: logged, for: "s", mapping: nil, by: narrow)
                },
            ]
            #expect(refusals.map(\.code) == [.forbidden, .forbidden, .forbidden])
        }
    }

    @Test("is for the source's administrators only, and removed with the source")
    func reach() async throws {
        try await Self.with { fixture in
            _ = try await fixture.gate.accept(PostReceiverTests.github(#"{"a":1}"#), for: "s")
            let reader = Caller(app: InboundFixture.app, credential: "key_r", scopes: [.read])
            #expect(try await failure { _ = try await fixture.gate.requests(of: "s", by: reader) }.code == .forbidden)
            try await fixture.registry.delete("s", by: InboundFixture.owner)
            #expect(
                try await failure { _ = try await fixture.gate.requests(of: "s", by: InboundFixture.owner) }.code
                    == .notFound)
            try await fixture.put("s", #"{"scheme":"none","mapping":\#(Self.mapping)}"#)
            #expect(try await fixture.gate.requests(of: "s", by: InboundFixture.owner).isEmpty)
        }
    }

    @Test("is bounded for each source, and unverified requests cannot displace the sender's")
    func bounded() async throws {
        let memory = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:"))
        let log = RequestLog(
            .init(requests: 3, unauthenticatedRequests: 2, bytesPerSource: 20_000, bytesInAll: 30_000),
            whole: .init(requests: 2, unauthenticatedRequests: 0, bytesPerSource: 20_000, bytesInAll: 30_000),
            archive: RequestArchive(memory.directory, logger: ChatFixture.quiet))
        func request(
            _ number: UInt64, isKnown: Bool, bytes: Int = 10, _ outcome: InboundRequest.Outcome = .accepted
        ) -> InboundRequest {
            var request = InboundRequest(
                id: "\(number)", at: Timetoken(number), method: "POST", headers: ([], []), query: ([], []),
                body: Array(repeating: 0, count: bytes), bodyBytes: bytes, mappingVersion: 1)
            request.identity = isKnown ? DeliveryIdentity.none : nil
            request.outcome = outcome
            return request
        }
        let one = RecordKey(.source, "one", in: InboundFixture.app)
        let two = RecordKey(.source, "two", in: InboundFixture.app)
        for number in 1...5 { log.add(request(UInt64(number), isKnown: true), of: one) }
        for number in 6...50 { log.add(request(UInt64(number), isKnown: false), of: one) }
        #expect(log.requests(of: one).map(\.id) == ["50", "49", "5", "4", "3"])
        // Exceeds the byte limit of the source: the oldest requests are dropped.
        for number in 51...53 { log.add(request(UInt64(number), isKnown: true, bytes: 8000), of: one) }
        #expect(log.requests(of: one).map(\.id) == ["53", "52"])
        // Exceeds the byte limit of all sources: again the oldest are dropped, of any source.
        for number in 54...55 { log.add(request(UInt64(number), isKnown: true, bytes: 8000), of: two) }
        #expect(log.requests(of: one).map(\.id) == ["53"])
        #expect(log.requests(of: two).map(\.id) == ["55", "54"])
        // Rejected requests have limits of their own.
        for number in 56...59 { log.add(request(UInt64(number), isKnown: true, .rejected), of: two) }
        #expect(log.requests(of: two).map(\.id) == ["59", "58", "55", "54"])
        for number in 60...61 { log.add(request(UInt64(number), isKnown: true, bytes: 12_000, .failed), of: two) }
        #expect(log.requests(of: two).map(\.id) == ["61", "55", "54"])
        log.forget { $0 == two }
        #expect(log.requests(of: two).isEmpty)
        await memory.close()
    }
}
