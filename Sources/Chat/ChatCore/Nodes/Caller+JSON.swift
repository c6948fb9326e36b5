public import ChatModel
public import JSON

extension Caller {
    /// The parts of the caller that decide which streams it may see and change, for a call of another node.
    public var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", app.name)
            writer.member("credential", credential)
            writer.member("scopes", scopes.names)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            if let user { writer.member("user", user) }
            writer.endObject()
        }
    }

    /// Parses the JSON that ``json`` prints; nil for another value.
    public init?(_ value: JSONValue?) {
        guard let app = value?["app"]?.string, let credential = value?["credential"]?.string,
            let scopes = value?["scopes"]?.strings.flatMap({ Scopes(names: $0) }),
            let channels = value?["channels"]?.strings, let types = value?["types"]?.strings
        else { return nil }
        self.init(
            app: AppID(app), credential: credential, scopes: scopes,
            channels: channels.compactMap { NamePattern($0) }, types: types.compactMap { NamePattern($0) },
            user: value?["user"]?.string)
    }
}
