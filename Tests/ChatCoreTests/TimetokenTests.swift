import ChatModel
import Testing

@Suite("A timetoken") struct TimetokenTests {
    @Test(
        "is read from exactly 17 digits, from 0, and from an event id",
        arguments: [
            ("17000000000000001", 17_000_000_000_000_001), ("evt_17000000000000001", 17_000_000_000_000_001),
            ("0", 0), ("evt_0", 0), ("1700000000000000", nil), ("170000000000000011", nil), ("1", nil), ("", nil),
            ("evt_", nil), ("evt_1700000000000", nil), ("1700000000000000x", nil), ("evt_1700000000000000é", nil),
        ] as [(String, UInt64?)])
    func parsing(_ text: String, _ value: UInt64?) {
        #expect(Timetoken(ofEvent: text)?.rawValue == value)
        #expect(Timetoken(exactly: text)?.rawValue == (text.hasPrefix("evt_") ? nil : value))
    }

    @Test("is printed as its digits, and as an event's id", arguments: [0, 9, 10, 17_324_123_456_789_012, UInt64.max])
    func text(_ number: UInt64) {
        let timetoken = Timetoken(number)
        #expect(timetoken.description == String(number))
        #expect(timetoken.eventID == "evt_" + String(number))
    }
}
