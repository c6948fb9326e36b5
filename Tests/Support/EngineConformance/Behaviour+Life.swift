import ChatModel
import JSON
import Locking
import Testing
import TestSupport

extension Behaviour {
    static let life: [Behaviour] = [
        Behaviour(
            "when the engine closes under load, calls that returned are stored and calls that threw are not",
            needsRestart: true
        ) { trial in
            let stored = Lock<Set<String>>([])
            let log = await trial.log
            let node = await trial.node
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<32 {
                    group.addTask {
                        for number in 0... {
                            let text = "\(task * 1_000_000 + number)"
                            do throws(ChatError) {
                                _ = try await log.append([trial.draft("room", text)], claim: nil)
                                stored.withLock { _ = $0.insert(text) }
                            } catch {
                                #expect(error.code == .unavailable)
                                return
                            }
                        }
                    }
                }
                await waitUntil { stored.withLock { $0.count } >= 500 }
                await node.close()
            }
            try await trial.subject.restart()
            let found = try await trial.readAll(trial.names("room"))
            #expect(Set(found.texts) == stored.withLock { $0 })
            #expect(found.count == stored.withLock { $0.count } && found.isStrictlyIncreasing)
        },
        Behaviour("a closed engine refuses every call, and closing it again has no effect") { trial in
            let node = await trial.node
            #expect(await node.health() == .ready)
            try await trial.append(trial.draft())
            async let other: Void = node.close()
            await node.close()
            await other
            guard case .unavailable = await node.health() else {
                Issue.record("a closed engine is not available")
                return
            }
            await trial.refusal(.unavailable) { _ = try await node.log.append([trial.draft()], claim: nil) }
            await trial.refusal(.unavailable) {
                _ = try await node.log.history([HistoryRequest(channel: trial.channel("room"), limit: 1)])
            }
            await trial.refusal(.unavailable) {
                _ = try await node.directory.read(RecordKey(.user, "a", in: trial.app))
            }
            await trial.refusal(.unavailable) {
                _ = try await node.directory.write([RecordChange(RecordKey(.user, "a", in: trial.app), body: .null)])
            }
            await trial.refusal(.unavailable) {
                try await node.deliveries.plan([], cursor: CursorName("c"), from: .zero, to: 1)
            }
            #expect(try await node.deliveries.lease(1, wait: .seconds(30)).isEmpty)
            for await _ in await node.log.committed() { Issue.record("nothing is committed any more") }
            for await _ in await node.directory.changes(after: .max) { Issue.record("nothing changes any more") }
        },
    ]
}

/// "é" as one code point and as two: equal as `String`, different as bytes.
private let composed = "caf\u{E9}"
private let decomposed = "cafe\u{301}"

extension Behaviour {
    static let names: [Behaviour] = [
        Behaviour("names that look alike and differ in their bytes are two channels") { trial in
            for retention in [Retention.kept, .passing] {
                try await trial.append(trial.draft(composed, #""1""#, retention: retention))
                try await trial.append(trial.draft(decomposed, #""2""#, retention: retention))
            }
            let names = try await trial.readAll(trial.everything).map { Array($0.channel.name.utf8) }
            #expect(names == [composed, decomposed, composed, decomposed].map { Array($0.utf8) })
            for (name, text) in [(composed, #""1""#), (decomposed, #""2""#)] {
                #expect(try await trial.history(name).texts == [text])
                #expect(try await trial.readAll(trial.names(name)).texts == [text, text])
            }
        },
        Behaviour("prefixes that look alike and differ in their bytes select different channels") { trial in
            try await trial.append(trial.draft(composed + ".a", "1"), trial.draft(decomposed + ".a", "2"))
            let below = ChannelSet(app: trial.app, prefixes: [composed + "."])
            // A page with one entry is found by another query than a long one.
            for limit in [1, 500] { #expect(try await trial.readAll(below, limit: limit).texts == ["1"]) }
        },
        Behaviour("a deletion does not affect a channel whose name only looks alike") { trial in
            let kept = try await trial.append(trial.draft(composed), trial.draft(decomposed))
            let end = kept[1].timetoken.adding(.seconds(1))
            #expect(try await trial.log.delete(after: .zero, before: end, in: trial.channel(composed)) == 1)
            #expect(try await trial.history(composed).isEmpty)
            #expect(try await trial.history(decomposed).timetokens == [kept[1].timetoken])
        },
        Behaviour("records whose ids look alike are distinct") { trial in
            let keys = [composed, decomposed].map { RecordKey(.user, $0, in: trial.app) }
            let bodies = [#"{"n":1}"#, #"{"n":2}"#].map { trial.json($0) }
            _ = try await trial.directory.write(
                zip(keys, bodies).map { RecordChange($0, body: $1, precondition: .absent) })
            #expect(try await trial.directory.read(keys).map { $0?.body } == bodies)
        },
    ]
}
