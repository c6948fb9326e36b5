import ChatModel
import Testing

@Suite("A timetoken") struct TimetokenTests {
    @Test("is printed as its digits, and as an event's id", arguments: [0, 9, 10, 17_324_123_456_789_012, UInt64.max])
    func text(_ number: UInt64) {
        let timetoken = Timetoken(number)
        #expect(timetoken.description == String(number))
        #expect(timetoken.eventID == "evt_" + String(number))
    }
}
