import Signing
import Testing

@Suite("A provider's question") struct HandshakeTests {
    private let tokens = [Secret(text: "old-token"), Secret(text: "verify-me")]

    private func hub(
        _ token: String?, mode: String = "subscribe", challenge: String? = "1158201444"
    ) -> HandshakeResponse? {
        var query: [SignedMessage.Field] = [("hub.mode", mode)]
        if let challenge { query.append(("hub.challenge", challenge)) }
        if let token { query.append(("hub.verify_token", token)) }
        return Handshakes.hub(query: query, tokens: tokens)
    }

    @Test("of Slack is answered with its challenge, as text")
    func slack() {
        let answer = Handshakes.slack(type: "url_verification", challenge: "3eZbrw1aB")
        #expect(answer?.status == 200)
        #expect(answer?.body == "3eZbrw1aB")
        #expect(answer?.contentType == "text/plain; charset=utf-8")
        #expect(Handshakes.slack(type: "event_callback", challenge: "3eZbrw1aB") == nil)
        #expect(Handshakes.slack(type: "url_verification", challenge: nil) == nil)
        #expect(Handshakes.slack(type: "url_verification", challenge: String(repeating: "x", count: 1025)) == nil)
    }

    @Test("of Meta is answered where it names one of the owner's tokens, and refused otherwise")
    func meta() {
        for token in ["verify-me", "old-token"] {
            #expect(hub(token)?.status == 200)
            #expect(hub(token)?.body == "1158201444")
            #expect(hub(token)?.contentType == "text/plain; charset=utf-8")
        }
        for token in ["", "verify-m", "verify-mee", nil] {
            #expect(hub(token)?.status == 403)
            #expect(hub(token)?.body == "")
        }
        #expect(hub("verify-me", mode: "unsubscribe") == nil)
        #expect(hub("verify-me", challenge: nil) == nil)
        #expect(Handshakes.hub(query: [], tokens: tokens) == nil)
    }

    @Test("of X is answered with the token's HMAC")
    func crc() {
        // Computed with Python's hmac.
        let answer = Handshakes.crc(
            query: [("crc_token", "MjMxNTk0"), ("nonce", "x")], secret: Secret(text: "consumer"))
        #expect(answer?.body == #"{"response_token":"sha256=0xDE4xqk3I+ML+QnVsXQJ/PLuP748P9WSItcO3rHhII="}"#)
        #expect(answer?.contentType == "application/json")
        #expect(Handshakes.crc(query: [("other", "x")], secret: Secret(text: "consumer")) == nil)
    }

    @Test(
        "of X is not answered where the token could be a post",
        arguments: [
            "", "{}", "[1]", #""a""#, "a b", "a.b", "v0:1", "a&b", "1\n", "é", String(repeating: "x", count: 129),
        ])
    func crcOfPosts(_ token: String) {
        #expect(Handshakes.crc(query: [("crc_token", token)], secret: Secret(text: "consumer")) == nil)
    }
}

@Suite("The consent of CloudEvents") struct CloudEventsConsentTests {
    private func lookUp(_ fields: [SignedMessage.Field]) -> (String) -> String? {
        { name in fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    }

    private func grant(
        _ fields: [SignedMessage.Field], asksRate: Bool = false
    ) -> Result<CloudEventsValidation.Rate, CloudEventsValidation.Refusal> {
        do throws(CloudEventsValidation.Refusal) {
            return .success(
                try CloudEventsValidation.grant(origin: "gw.example", asksRate: asksRate, header: lookUp(fields)))
        } catch { return .failure(error) }
    }

    @Test("is asked for by name, and by rate where one is wanted")
    func request() {
        #expect(CloudEventsValidation.request(origin: "gw.example").map(\.name) == ["WebHook-Request-Origin"])
        let fields = CloudEventsValidation.request(origin: "gw.example", ratePerMinute: 120)
        #expect(fields.map(\.value) == ["gw.example", "120"])
        #expect(fields.map(\.name) == ["WebHook-Request-Origin", "WebHook-Request-Rate"])
    }

    @Test("is given by our name or by a star")
    func granted() {
        for origin in ["gw.example", " GW.Example ", "*"] {
            #expect(grant([("webhook-allowed-origin", origin)]) == .success(.unlimited))
        }
        let fields: [SignedMessage.Field] = [("WebHook-Allowed-Origin", "*"), ("WebHook-Allowed-Rate", "60")]
        #expect(grant(fields, asksRate: true) == .success(.perMinute(60)))
        #expect(grant([fields[0], ("WebHook-Allowed-Rate", "*")], asksRate: true) == .success(.unlimited))
    }

    @Test("is not given by silence, to another, or without the rate that was asked for")
    func refused() {
        #expect(grant([]) == .failure(.notAnswered))
        #expect(grant([("WebHook-Allowed-Origin", " ")]) == .failure(.notAnswered))
        #expect(grant([("WebHook-Allowed-Origin", "other.example")]) == .failure(.otherOrigin("other.example")))
        #expect(grant([("WebHook-Allowed-Origin", "gw.example.evil")]) == .failure(.otherOrigin("gw.example.evil")))
        for rate in ["", "0", "-1", "many", "1.5", "99999999999999999999"] {
            let fields = [("WebHook-Allowed-Origin", "*"), ("WebHook-Allowed-Rate", rate)]
            #expect(grant(fields, asksRate: true) == .failure(.rateMissing), "\(rate)")
        }
    }

    @Test("is answered at our own addresses, with the rate that is asked for")
    func answered() {
        func headers(_ fields: [SignedMessage.Field]) -> [String: String]? {
            CloudEventsValidation.answer(header: lookUp(fields)).map { answer in
                Dictionary(uniqueKeysWithValues: answer.headers.map { ($0.name, $0.value) })
            }
        }
        let origin = ("WebHook-Request-Origin", "eventemitter.example.com")
        #expect(
            headers([origin]) == ["WebHook-Allowed-Origin": "eventemitter.example.com", "Allow": "POST"])
        #expect(headers([origin, ("WebHook-Request-Rate", "120")])?["WebHook-Allowed-Rate"] == "120")
        #expect(headers([origin, ("WebHook-Request-Rate", "*")])?["WebHook-Allowed-Rate"] == "*")
        #expect(headers([origin, ("WebHook-Request-Rate", "many")])?["WebHook-Allowed-Rate"] == nil)
    }

    @Test(
        "is not given to invalid requests, or to values that would be unsafe in a header",
        arguments: [nil, "", "a b", "é", "x\r\ny: z"])
    func noQuestion(_ origin: String?) {
        let fields: [SignedMessage.Field] = origin.map { [("WebHook-Request-Origin", $0)] } ?? [("Origin", "https://x")]
        #expect(CloudEventsValidation.answer(header: lookUp(fields)) == nil)
    }
}
