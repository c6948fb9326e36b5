import ChatCore
import ChatModel
import JSON

/// Prints the parts of the AsyncAPI document around its messages and schemas, such as the server, the channels and the
/// operations.
extension AsyncAPIDocument {
    /// The gateway's own types that clients may emit. The gateway's other types are emitted only by the gateway itself.
    private static let emitted: Set<String> = ["message.created", "signal.sent", BuiltInTypes.custom]

    func print(messages: JSONText, schemas: JSONText, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("asyncapi", "3.0.0")
        writer.key("info")
        writer.beginObject()
        writer.member("title", title)
        writer.member("version", version)
        writer.member("description", Self.about)
        writer.endObject()
        writer.member("defaultContentType", "application/json")
        printServers(to: &writer)
        printChannels(to: &writer)
        printOperations(to: &writer)
        writer.key("components")
        writer.beginObject()
        writer.member("messages", messages)
        writer.member("schemas", schemas)
        writer.member("messageTraits", Self.messageTraits)
        writer.member("securitySchemes", Self.securitySchemes)
        writer.endObject()
        writer.endObject()
    }

    private static let about =
        "The events of one app of a Parley gateway. A message is an event: its payload is the member `data`, and its "
        + "header fields are the other members of the envelope. Operations are described from the gateway's side: it "
        + "receives emitted events and sends them to streams. The version changes with every change of the types."

    /// Prints the server. No server is printed if no public address is configured.
    private func printServers(to writer: inout JSONWriter) {
        let parts = publicURL.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count >= 2, parts[0].hasSuffix(":") else { return }
        writer.key("servers")
        writer.beginObject()
        writer.key("gateway")
        writer.beginObject()
        writer.member("host", String(parts[1]))
        writer.member("protocol", String(parts[0].dropLast()))
        if parts.count > 2 { writer.member("pathname", "/" + parts[2]) }
        writer.member("description", "The HTTP API that \(publicURL)/openapi.yaml describes")
        writer.key("security")
        writer.beginArray()
        Self.reference("#/components/securitySchemes/apiKey", to: &writer)
        Self.reference("#/components/securitySchemes/ticket", to: &writer)
        writer.endArray()
        writer.endObject()
        writer.endObject()
    }

    /// Prints one channel with a parameter for its name. The gateway cannot list the channels, because a channel exists
    /// as soon as a client names it.
    private func printChannels(to writer: inout JSONWriter) {
        writer.key("channels")
        writer.beginObject()
        writer.key("channel")
        writer.beginObject()
        writer.member("address", "{channel}")
        writer.member("title", "Any channel")
        writer.member("description", "A channel exists as soon as a request names it.")
        writer.key("parameters")
        writer.raw(Self.parameters)
        writer.key("messages")
        writer.beginObject()
        for type in types {
            writer.key(text: type.name)
            Self.reference("#/components/messages/\(type.name)", to: &writer)
        }
        writer.endObject()
        writer.endObject()
        writer.endObject()
    }

    private func printOperations(to writer: inout JSONWriter) {
        writer.key("operations")
        writer.beginObject()
        writer.key("emit")
        printOperation(
            "receive", "Emit an event",
            "`POST /v1/channels/{channel}/events` with `{\"type\": …, \"data\": …}`. Messages and signals have their "
                + "own routes, and CloudEvents go to `POST /v1/events`. The response is sent once the event is durable.",
            method: "POST", types.filter { !$0.isBuiltIn || Self.emitted.contains($0.name) }, to: &writer)
        writer.key("follow")
        printOperation(
            "send", "Follow events",
            "`GET /v1/stream?channel={channel}` as Server-Sent Events or NDJSON, `GET /v1/poll`, history, and webhooks. "
                + "All of them use the same envelope.",
            method: "GET", types, to: &writer)
        writer.endObject()
    }

    private func printOperation(
        _ action: String, _ title: String, _ description: String, method: String, _ types: [EventType],
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("action", action)
        writer.member("title", title)
        writer.member("description", description)
        writer.key("channel")
        Self.reference("#/channels/channel", to: &writer)
        writer.key("bindings")
        writer.raw(JSONText(trusted: Array(#"{"http":{"method":"\#(method)","bindingVersion":"0.3.0"}}"#.utf8)))
        writer.key("messages")
        writer.beginArray()
        for type in types { Self.reference("#/channels/channel/messages/\(type.name)", to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    private static func literal(_ text: StaticString) -> JSONText {
        JSONText(trusted: text.withUTF8Buffer { Array($0) })
    }

    private static let parameters = literal(
        #"{"channel":{"description":"1 to 255 bytes of UTF-8; no comma, no `*`, no control character."}}"#)

    private static let messageTraits = literal(
        #"""
        {"envelope":{"headers":{"type":"object","required":["id","type","kind","timestamp","timetoken","channel"],"properties":{
        "id":{"type":"string","description":"`evt_` and the timetoken; never reused."},
        "type":{"type":"string","description":"The name of the message."},
        "kind":{"enum":["message","signal","file","action","presence","other"],"description":"The class of the event, independent of its type's name."},
        "timestamp":{"type":"string","format":"date-time"},
        "timetoken":{"type":"string","description":"Units of 100 ns since 1970; the event's position in its channel."},
        "channel":{"type":"string"},
        "user":{"type":"string","description":"The user who caused the event; absent if it was caused without a user."},
        "meta":{"description":"The publisher's metadata; absent if there is none."},
        "custom_type":{"type":"string"},
        "schema":{"type":"object","description":"The version of the declared schema that accepted the event; absent if none.",
        "required":["type","version"],"properties":{"type":{"type":"string"},"version":{"type":"integer"}}},
        "cause":{"type":"string","description":"The id of the request, if it caused several events; for a post to a source, `in/<source>/<request>`."},
        "ephemeral":{"type":"boolean","description":"True if the event is not stored in history; absent otherwise."},
        "included":{"type":"object","description":"The objects that the reader asked for with `include`; absent otherwise."}}}}}
        """#)

    private static let securitySchemes = literal(
        #"""
        {"apiKey":{"type":"http","scheme":"bearer","description":"An API key: `Authorization: Bearer parley_…`."},
        "ticket":{"type":"httpApiKey","in":"query","name":"ticket",
        "description":"A ticket from `POST /v1/stream-tickets`; opens one stream."}}
        """#)
}
