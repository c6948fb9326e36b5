import ChatModel
import TestSupport
import Testing

@testable import ChatPresence

@Suite("The presence index") struct PresenceIndexTests {
    @Test("holds the same entries as a dictionary after any sequence of changes", arguments: [1, 2, 3])
    func matches(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = PresenceIndex<ExactText>()
        var expected: [ExactText: PresenceEntry] = [:]
        let channel = ChannelID("room", in: AppID("app"))
        for _ in 0..<500 {
            let name = "user-\(random.below(4))"
            let stay = random.below(2) == 0 ? nil : PresenceEntry(PresenceKey(.occupant, of: name, on: channel))
            table[ExactText(name)] = stay
            expected[ExactText(name)] = stay
            #expect(table.count == expected.count && table.isEmpty == expected.isEmpty)
            for number in 0..<4 {
                let key = ExactText("user-\(number)")
                #expect(table[key] === expected[key])
            }
            #expect(Set(table.all.map(ObjectIdentifier.init)) == Set(expected.values.map(ObjectIdentifier.init)))
        }
    }
}
