import ChatModel
import JSON
import Locking
import TestSupport
import Testing

extension Behaviour {
    static let life: [Behaviour] = [
        Behaviour("closing under load leaves no doubt: what returned is stored, what threw is not", needsRestart: true)
        { trial in
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
        Behaviour("a closed engine refuses every call, and closing twice is closing once") { trial in
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
            #expect(try await node.deliveries.take(1, wait: .seconds(30)).isEmpty)
            for await _ in await node.log.committed() { Issue.record("nothing is committed any more") }
            for await _ in await node.directory.changes(after: .max) { Issue.record("nothing changes any more") }
        },
    ]
}
