import ChatKit
import Testing

private struct Order: Codable, JSONCodable, Equatable {
    struct Item: Codable, Equatable { let name: String, count: Int, price: Double }

    let number: UInt32
    let items: [Item]
    var note: String?
    var isPaid = false
    var more: [String: AnyJSON] = [:]
}

@Suite("A Codable payload") struct CodablePayloadTests {
    private let order = Order(
        number: 7, items: [.init(name: "tea", count: 2, price: 3.5), .init(name: "cup", count: 1, price: 4)],
        isPaid: true, more: ["gift": true, "tags": ["a", nil, 1]])

    @Test("is published, received and decoded without code of its own", arguments: MatchStrategy.allCases)
    func published(way: MatchStrategy) async throws {
        let order = order
        try await way.withChat { chat in
            var events = chat.channel("orders").subscription().makeAsyncIterator()
            try await events.open()
            try await chat.channel("orders").publish(order)
            try await chat.channel("orders").publish([order, order])
            let first = try #require(await events.next())
            #expect(first.payload["items"] != nil)
            #expect(try first.payload.decode(Order.self) == order)
            #expect(try #require(await events.next()).payload.decode([Order].self) == [order, order])
        }
    }

    @Test("is refused with the member that does not fit")
    func mismatch() {
        let error = #expect(throws: ChatError.self) {
            try AnyJSON.object(["number": "seven", "items": []]).decode(Order.self)
        }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("number") == true)
        #expect(throws: ChatError.self) { try AnyJSON.object(["number": -1, "items": []]).decode(Order.self) }
    }

    @Test("that cannot be encoded is not sent", arguments: MatchStrategy.allCases)
    func unencodable(way: MatchStrategy) async throws {
        struct Huge: Codable, JSONCodable { var count = UInt64.max }
        try await way.withChat { chat in
            let error = await #expect(throws: ChatError.self) { try await chat.channel("a").publish(Huge()) }
            #expect(error?.slug == "not_encodable")
            await #expect(throws: ChatError.self) { try await chat.channel("a").publish("x", meta: ["h": Huge()]) }
        }
    }
}
