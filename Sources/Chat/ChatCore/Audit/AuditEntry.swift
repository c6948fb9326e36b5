public import ChatModel
public import JSON

/// An entry of the audit log: one administrative operation on an app, executed or rejected. It contains no request
/// bodies and no secrets, because every admin of the app may read it.
public struct AuditEntry: Sendable, Equatable {
    /// The id of the entry, unique within the app. Ids sort by time.
    public var id: String
    /// The time at which the operation was executed or rejected.
    public var at: Timetoken
    /// The operation and its caller.
    public var operation: AuditOperation
    /// The id of the key or other resource that the operation changed; nil when the operation changed the app itself.
    public var resource: String?
    /// The error code of a rejected operation; nil for an operation that was executed.
    public var refusal: String?
}

/// An administrative operation and its caller: the part of an audit entry that is known before the operation is
/// executed.
public struct AuditOperation: Sendable, Equatable {
    /// The action: a kind of resource, a dot and a verb, such as `key.create` or `webhook.delete`.
    public var action: String
    /// The id of the credential; nil for an invalid credential.
    public var actor: String?
    /// The user that the credential acts for; nil for none.
    public var user: String?
    /// The network address from which the request came.
    public var address: String?
    /// The request's id.
    public var request: String?
    /// The id of the resource that the request names; nil when the id is known only after the operation, or when the
    /// resource is the app itself.
    public var resource: String?

    /// Creates the description of an operation.
    ///
    /// - Parameter action: a kind of resource, a dot and a verb, such as `key.create`.
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
    /// The maximum length in bytes of the resource's id in an entry, because the id may come from a request.
    private static let textBytes = 255

    init(_ operation: AuditOperation, at now: Timetoken, resource: String?, refusal: String?) {
        // The random suffix distinguishes entries with the same timetoken. A counter would reveal the number of entries
        // in other apps.
        id = Self.id(now) + String(UInt64.random(in: 0..<1 << 48), radix: 36)
        at = now
        self.operation = operation
        self.resource = (resource ?? operation.resource).map {
            String(decoding: $0.utf8.prefix(Self.textBytes), as: UTF8.self)
        }
        self.refusal = refusal
    }

    /// Returns the prefix of the ids of the entries with this timetoken. The timetoken is padded with zeros, so that
    /// the order of the ids is the order of time.
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

    /// Prints the entry as members of a JSON object. Used for the record and for the native API.
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

    /// Reads the JSON that `body` printed; nil for a record that is not an audit entry.
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
