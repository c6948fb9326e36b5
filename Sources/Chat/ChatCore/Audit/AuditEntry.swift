public import ChatModel
public import JSON

/// One administrative operation on an app, carried out or refused. It holds no bodies and no secrets, because every
/// admin of the app may read it.
public struct AuditEntry: Sendable, Equatable {
    /// The order of entries; unique within an app.
    public var id: String
    /// The time of the operation or of its refusal.
    public var at: Timetoken
    /// The operation and its caller.
    public var operation: AuditOperation
    /// The key or other resource of the app that the operation changed; nil when that is the app itself.
    public var resource: String?
    /// The reason for a refusal; nil for an operation that was carried out.
    public var refusal: String?
}

/// The requested operation and its caller, as far as they are known before it is carried out.
public struct AuditOperation: Sendable, Equatable {
    /// The action, such as `key.create` or `webhook.delete`: a subject, a dot, a verb.
    public var action: String
    /// The credential's id; nil for an invalid credential.
    public var actor: String?
    /// The user the credential speaks for.
    public var user: String?
    /// The network address that the request came from.
    public var address: String?
    /// The request's id.
    public var request: String?
    /// The resource named by the request; nil when it is known only afterwards, or is the app itself.
    public var resource: String?

    /// - Parameter action: a subject, a dot, a verb, such as `key.create`.
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
    /// The maximum number of bytes in an entry of a text that came from outside.
    private static let textBytes = 255

    init(_ operation: AuditOperation, at now: Timetoken, resource: String?, refusal: String?) {
        // The random suffix distinguishes entries of the same timetoken. A counter would reveal how many entries other
        // apps have.
        id = Self.id(now) + String(UInt64.random(in: 0..<1 << 48), radix: 36)
        at = now
        self.operation = operation
        self.resource = (resource ?? operation.resource).map {
            String(decoding: $0.utf8.prefix(Self.textBytes), as: UTF8.self)
        }
        self.refusal = refusal
    }

    /// The prefix of the ids of a timetoken, padded so that ids sort by time as text.
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

    /// Prints the entry as members of an object, both for the record and for the native API.
    public func printMembers(to writer: inout JSONWriter) {
        writer.member("timetoken", at.description)
        writer.member("action", operation.action)
        for (name, value) in texts {
            writer.key(text: name)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.member("result", refusal == nil ? "done" : "refused")
    }

    private var texts: [(String, String?)] {
        [
            ("actor", operation.actor), ("user", operation.user), ("address", operation.address),
            ("resource", resource),
            ("code", refusal), ("request_id", operation.request),
        ]
    }

    /// Reads what `body` printed; nil for a record that is not an audit entry.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let action = root["action"]?.string,
            let at = root["timetoken"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        id = record.key.id
        self.at = at
        resource = root["resource"]?.string
        refusal = root["code"]?.string
        operation = AuditOperation(
            action: action, actor: root["actor"]?.string, user: root["user"]?.string,
            address: root["address"]?.string, request: root["request_id"]?.string, resource: resource)
    }
}
