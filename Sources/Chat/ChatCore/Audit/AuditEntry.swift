public import ChatModel
public import JSON

/// One thing somebody did to an app's administration, or was kept from doing. Without bodies and secrets: what is in an
/// entry may be read by every admin of the app.
public struct AuditEntry: Sendable, Equatable {
    /// Places entries in their order; unique within an app.
    public var id: String
    public var at: Timetoken
    public var deed: AuditOperation
    /// The key, or another name of the app's, that what was done was done to; nil where that is the app itself.
    public var resource: String?
    /// Why it was refused; nil for what was done.
    public var refusal: String?
}

/// Who asks for what, as far as it is known before it is done.
public struct AuditOperation: Sendable, Equatable {
    /// `key.create`, `webhook.delete`: a subject, a dot, a verb.
    public var action: String
    /// The credential's id; nil for one that does not hold.
    public var actor: String?
    /// The user the credential speaks for.
    public var user: String?
    /// Where the request came from.
    public var address: String?
    /// The request's id.
    public var request: String?
    public var resource: String?

    public init(
        action: String, actor: String?, user: String? = nil, address: String? = nil, request: String? = nil,
        resource: String? = nil
    ) {
        self.action = action
        self.actor = actor
        self.user = user
        self.address = address
        self.request = request
        self.resource = resource
    }
}

extension AuditEntry {
    /// What an entry may hold of a text that came from outside.
    private static let textBytes = 255

    init(_ deed: AuditOperation, at now: Timetoken, resource: String?, refusal: String?) {
        // The end tells entries of one moment apart; a number would tell how many entries other apps have.
        id = Self.id(now) + String(UInt64.random(in: 0..<1 << 48), radix: 36)
        at = now
        self.deed = deed
        self.resource = (resource ?? deed.resource).map {
            String(decoding: $0.utf8.prefix(Self.textBytes), as: UTF8.self)
        }
        self.refusal = refusal
    }

    /// What the ids of a moment begin with: as text they are in the order of time.
    static func id(_ moment: Timetoken) -> String {
        let digits = moment.description
        return String(repeating: "0", count: max(0, 19 - digits.count)) + digits + "-"
    }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Prints it as members of an object: of the record, and of the native API.
    public func printMembers(to writer: inout JSONWriter) {
        writer.member("timetoken", at.description)
        writer.member("action", deed.action)
        for (name, value) in texts {
            writer.key(text: name)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.member("result", refusal == nil ? "done" : "refused")
    }

    private var texts: [(String, String?)] {
        [
            ("actor", deed.actor), ("user", deed.user), ("address", deed.address), ("resource", resource),
            ("code", refusal), ("request_id", deed.request),
        ]
    }

    /// Reads what `body` printed; nil for a record that is no entry.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let action = root["action"]?.string,
            let at = root["timetoken"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        id = record.key.id
        self.at = at
        resource = root["resource"]?.string
        refusal = root["code"]?.string
        deed = AuditOperation(
            action: action, actor: root["actor"]?.string, user: root["user"]?.string,
            address: root["address"]?.string, request: root["request_id"]?.string, resource: resource)
    }
}
