import ChatModel
import JSON
import Signing

/// How a source answers a provider that asks whether this is the right address.
struct Greeting {
    private let settings: SourceSettings

    init(_ settings: SourceSettings) { self.settings = settings }

    /// To a `GET` or `OPTIONS`; nil for what is no question of the source's provider.
    func answer(_ post: InboundPost) -> HandshakeResponse? {
        switch settings.handshake {
        case .meta where post.method == "GET":
            Handshakes.hub(query: post.query, tokens: [settings.verifyToken].compactMap { $0 }.map { Secret(text: $0) })
        // Also of a record from before the rule: what a scheme signs around the body could be asked for as a token.
        case .x where post.method == "GET" && settings.scheme.signsBodyAlone(settings.options):
            settings.secrets.first.flatMap { Handshakes.crc(query: post.query, secret: Secret(text: $0)) }
        case .cloudevents where post.method == "OPTIONS": CloudEventsValidation.answer(header: post.message.header)
        case .none, .slack, .meta, .x, .cloudevents: nil
        }
    }

    /// To a post that was verified.
    func answerVerified(_ post: InboundPost) -> HandshakeResponse? {
        // Not every post is to be parsed twice: the question is short.
        guard settings.handshake == .slack, post.body.count <= 8 * 1024,
            // A form is no question; other mistakes are told when the post is mapped.
            let root = try? JSONDocument(post.body, limits: JSONLimits(depth: 16), numbers: .lenient).root
        else { return nil }
        return Handshakes.slack(type: root["type"]?.string, challenge: root["challenge"]?.string)
    }
}
