import ChatKitCompat
import Dispatch
import TestSupport
import Testing

private struct Greeting: JSONCodable, Equatable {
    var greeting: String
    var place: Place
}

private struct Place: JSONCodable, Equatable {
    var lat: Double
    var long: Double
}

@Suite("The samples of publishing", .timeLimit(.minutes(2))) struct PublishSampleTests {
    @Test("send texts, dictionaries and types of the program, and read them from history")
    func publish() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            pubnub.publish(channel: "room.1", message: "hello", customMessageType: "text-message") { result in
                switch result {
                case .success(let timetoken): calls.add("sent \(timetoken > 17_000_000_000_000_000)")
                case .failure(let error): calls.add("failed \(error)")
                }
            }
            await calls.expect(["sent true"])
            let greeting = Greeting(greeting: "hi", place: Place(lat: 37.5, long: -122.25))
            for message: any JSONCodable in [["greeting": "hello"], greeting] {
                let _: Timetoken = try await outcome {
                    pubnub.publish(channel: "room.1", message: message, meta: ["lang": "en"], completion: $0)
                }
            }
            let history = try await outcome {
                pubnub.fetchMessageHistory(
                    for: ["room.1"], includeMeta: true, includeCustomMessageType: true, completion: $0)
            }
            let messages = try #require(history.messagesByChannel["room.1"])
            #expect(messages.map { $0.payload.stringOptional ?? "-" } == ["hello", "-", "-"])
            #expect(messages[0].customMessageType == "text-message" && messages[0].publisher == "ana")
            #expect(messages[1].payload.codableValue.dictionaryOptional?["greeting"] as? String == "hello")
            #expect(messages[1].payload[rawValue: "greeting"] as? String == "hello")
            #expect(messages[1].metadata?.codableValue[rawValue: "lang"] as? String == "en")
            #expect(try messages[2].payload.decode(Greeting.self) == greeting)
            #expect(history.next == nil)
        }
    }

    @Test("send signals and fires, and messages that are not stored or are compressed")
    func others() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            let subscription = pubnub.channel("room.1").subscription()
            subscription.onEvent = { event in
                switch event {
                case .messageReceived(let message): calls.add("message \(message.payload.stringOptional?.count ?? 0)")
                case .signalReceived(let signal):
                    calls.add("signal \(signal.payload.stringOptional ?? "") \(signal.customMessageType ?? "")")
                case .presenceChanged, .appContextChanged, .messageActionChanged, .fileChanged: calls.add("\(event)")
                }
            }
            await pubnub.connected { _ in subscription.subscribe() }
            let _: Timetoken = try await outcome { pubnub.fire(channel: "room.1", message: "fire", completion: $0) }
            let _: Timetoken = try await outcome {
                pubnub.signal(channel: "room.1", message: "on", customMessageType: "lamp", completion: $0)
            }
            let long = String(repeating: "tea ", count: 4000)
            let _: Timetoken = try await outcome {
                pubnub.publish(channel: "room.1", message: long, shouldCompress: true, completion: $0)
            }
            let _: Timetoken = try await outcome {
                pubnub.publish(channel: "room.1", message: "gone", shouldStore: false, completion: $0)
            }
            await calls.expect(["signal on lamp", "message 16000", "message 4"])
            let counts = try await outcome { pubnub.messageCounts(channels: ["room.1", "none"], completion: $0) }
            #expect(counts == ["room.1": 1, "none": 0])
        }
    }

    @Test("tell what is wrong in the error")
    func errors() async throws {
        try await CompatGateway.run { pubnub, gateway in
            let label = await #expect(throws: PubNubError.self) {
                let _: Timetoken = try await outcome {
                    pubnub.publish(channel: "room.1", message: "x", customMessageType: "a", completion: $0)
                }
            }
            #expect(label?.reason == .badRequest)
            #expect(label?.errorDescription?.isEmpty == false)
            let key = await #expect(throws: PubNubError.self) {
                let other = gateway.client("ana", key: "wrong")
                let _: Timetoken = try await outcome { other.publish(channel: "room.1", message: "x", completion: $0) }
            }
            #expect(key?.reason == .unauthorized)
            let address = await #expect(throws: PubNubError.self) {
                let other = PubNub(configuration: PubNubConfiguration(url: "chat", key: "dev", userId: "ana"))
                let _: Timetoken = try await outcome { other.time(completion: $0) }
            }
            #expect(address?.details == ["the gateway's address must begin with http:// or https://"])
        }
    }

    @Test("call the closure on the queue of the request")
    func queue() async throws {
        try await CompatGateway.run { pubnub, _ in
            let queue = DispatchQueue(label: "answers")
            queue.setSpecific(key: Self.place, value: "answers")
            let calls = Calls([])
            pubnub.time(custom: PubNub.RequestConfiguration(responseQueue: queue)) { _ in
                calls.add(DispatchQueue.getSpecific(key: Self.place) ?? "-")
            }
            await calls.expect(["answers"])
        }
    }

    private static let place = DispatchSpecificKey<String>()

    @Test("use a token in the place of the key, and read its claims")
    func tokens() async throws {
        try await CompatGateway.run { _, gateway in
            let pubnub = gateway.client("ben", key: "none")
            let token = try await gateway.token(of: "ben")
            pubnub.set(token: token)
            let _: Timetoken = try await outcome { pubnub.publish(channel: "room.1", message: "x", completion: $0) }
            let refused = await #expect(throws: PubNubError.self) {
                let _: Timetoken = try await outcome {
                    pubnub.publish(channel: "hall", message: "x", completion: $0)
                }
            }
            #expect(refused?.reason == .forbidden)
            let claims = try #require(pubnub.parse(token: token))
            #expect(claims.authorizedUUID == "ben" && claims.ttl == 60)
            #expect(claims.patterns.channels == ["room.*": [.read, .write]])
            #expect(claims.resources.channels.isEmpty)
            #expect(pubnub.parse(token: "dev") == nil)
            let now: Timetoken = try await outcome { pubnub.time(completion: $0) }
            #expect(now > 17_000_000_000_000_000)
        }
    }
}
