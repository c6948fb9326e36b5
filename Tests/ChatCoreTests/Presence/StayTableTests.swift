import ChatModel
import Testing

@testable import ChatCore

@Suite("A table of stays") struct StayTableTests {
    @Test("holds what a dictionary would, whoever comes and goes", arguments: [1, 2, 3])
    func matches(seed: UInt64) {
        var state = seed
        func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }
        var table = StayTable<ExactText>()
        var expected: [ExactText: Stay] = [:]
        let channel = ChannelID("room", in: SpaceID("app"))
        for _ in 0..<500 {
            let name = "user-\(roll(4))"
            let stay = roll(2) == 0 ? nil : Stay(Seat(.occupant, of: name, on: channel))
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
