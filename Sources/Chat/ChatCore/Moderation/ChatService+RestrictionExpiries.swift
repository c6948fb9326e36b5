import ChatModel

extension ChatService {
    /// Lifts restrictions when they are over, until cancelled.
    func endRestrictions() async {
        for await _ in restrictionEnds.arrivals {
            while !Task.isCancelled, restrictionEnds.isExpecting {
                // The wall clock may step, and a nearer end may come in: looking each second is cheap, and knows of both.
                try? await Task.sleep(for: .seconds(1))
                await sweepRestrictions()
            }
        }
    }

    /// Each end is told once: whoever finds the restriction gone, or prolonged, has nothing to tell.
    func sweepRestrictions() async {
        await restrictionEnds.sweep { key throws(ChatError) in
            let record = try await engine.directory.read(key)
            guard let known = record.flatMap({ RestrictionRecord($0) }) else { return nil }
            let (user, channel, app) = (known.user, known.channel, key.app)
            let chat = chat(for: .gateway(in: app))
            let actor = Actor(user: nil, isManager: true)
            let keys = RestrictionChange.keys(of: user, in: channel, by: actor, app)
            return try await decide(keys) { snapshot throws(ChatError) in
                var change = try RestrictionChange(of: user, in: channel, snapshot, by: actor, chat)
                guard let stored = change.stored, stored.isOver(at: snapshot.now) else {
                    return Decision<RestrictionRecord?>(change.stored)
                }
                var decision = change.lift(reason: "expired")
                decision.value = nil
                return decision
            }.value
        }
    }
}
