import ChatCore
import ChatModel
import JSON
import JSONSchema
import Testing

/// The table of built-in types with every name written out: `k` is kept in history, `e` is ephemeral. The last two rows
/// are types from outside the table: the custom event without a type, and the sample event for trying a webhook.
private let table = """
    k message.created message.updated message.deleted
    e signal.sent
    k reaction.added reaction.removed action.added action.removed thread.updated
    e typing.started typing.stopped receipt.read receipt.delivered
    k user.mentioned
    k member.invited member.declined member.joined member.left membership.updated
    e participant.entered participant.exited
    e presence.joined presence.left presence.timed_out presence.state_changed presence.interval
    k user.created user.updated user.deleted user.blocked user.unblocked
    k user.muted user.unmuted user.banned user.unbanned
    k channel.created channel.updated channel.deleted channel.events_deleted channel.frozen channel.unfrozen
    e channel.hidden
    k channel.metadata.created channel.metadata.updated channel.metadata.deleted
    k channel.metacounter.created channel.metacounter.updated channel.metacounter.deleted
    e channel.participant_count.updated channel.member_count.updated unread_count.updated channel.activity
    k report.created
    e connection.opened connection.reconnecting connection.reconnected connection.failed connection.canceled
    k webhook.failing webhook.disabled webhook.recovered source.rejected schema.violated key.expiring stream.lagged
    k schema.unusable system.disk_low webhook.overflowing
    k custom
    e webhook.test
    """

private let everyName = BuiltInCatalogue.all.map(\.name)

extension BuiltInType {
    fileprivate func compiled() throws -> Schema { try Schema(JSONDocument(Array(schema.utf8))) }
}

private func parsed(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

@Suite("The catalogue of built-in types") struct CatalogueTests {
    @Test("has every type of the table, with its retention, once")
    func complete() {
        let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let expected = rows.flatMap { row in row.dropFirst().map { "\(row[0]) \($0)" } }
        let found = BuiltInCatalogue.all.map { "\($0.retention == .kept ? "k" : "e") \($0.name)" }
        #expect(found.sorted() == expected.sorted())
    }

    @Test("contains only names that no sender can use", arguments: everyName)
    func names(_ name: String) throws {
        #expect(throws: Never.self) { try Names.check(type: name) }
        #expect(BuiltInTypes.isReserved(name) == (name != BuiltInTypes.custom))
    }

    @Test("has every name that is reserved, and two more of PubNub's wire")
    func reservedNames() {
        let wire = [BuiltInTypes.membershipSet, BuiltInTypes.membershipRemoved]
        let reports = everyName.filter { $0.hasPrefix("stream.") || $0.hasPrefix("system.") }
        #expect(BuiltInTypes.names.union(reports).union([BuiltInTypes.custom]) == Set(everyName + wire))
    }

    @Test(
        "leaves senders every other name",
        arguments: [
            "report.ready", "key.rotated", "message.sent", "user.created.v2", "presence", "streams.opened", "Error",
            "typing.paused", "channel.seat_count.updated",
        ])
    func ownNames(_ name: String) throws {
        #expect(throws: Never.self) { try Names.check(customType: name) }
        #expect(!BuiltInTypes.isFrequent(name))
    }

    @Test(
        "refuses a reserved name with its reason and another name",
        arguments: [
            (
                "user.created",
                "'user.created' is a built-in event type; use a name of your own, such as 'acme.user.created'"
            ),
            ("membership.set", "built-in"), ("stream.x", "types beginning with 'stream.'"),
            ("system.probed", "types beginning with 'system.'"),
            ("error", "'error' is an event name that a browser's EventSource"),
            ("open", "'acme.open'"), ("message", "'acme.message'"),
            ("stream." + String(repeating: "x", count: 57), "'acme.report'"),
        ])
    func refusal(_ name: String, _ words: String) {
        let error = #expect(throws: ChatError.self) { try Names.check(customType: name) }
        #expect(error?.slug == "type_reserved")
        #expect(error?.message.contains(words) == true)
    }

    @Test("finds a type by its name")
    func find() {
        #expect(BuiltInCatalogue.named("typing.started")?.isFrequent == true)
        #expect(BuiltInCatalogue.named("message.created")?.isFrequent == false)
        #expect(BuiltInCatalogue.named("order.paid") == nil)
    }

    @Test("accepts its examples and refuses its counter-examples", arguments: everyName)
    func examples(_ name: String) throws {
        let type = try #require(BuiltInCatalogue.named(name))
        let schema = try type.compiled()
        #expect(schema.dialect == .draft202012)
        #expect(!type.examples.isEmpty)
        for example in type.examples {
            let report = schema.report(on: try parsed(example))
            #expect(report.violations.isEmpty, "\(example)")
        }
        for example in type.counterExamples {
            var scratch = Scratch()
            #expect(schema.verdict(on: try parsed(example), scratch: &scratch) == .invalid, "\(example)")
        }
    }

    @Test("refuses something wherever not everything is accepted")
    func counterExamples() {
        let open = BuiltInCatalogue.all.filter(\.acceptsAnything).map(\.name)
        #expect(Set(open) == [BuiltInTypes.messageCreated, BuiltInTypes.signalSent, BuiltInTypes.custom])
        #expect(BuiltInCatalogue.all.allSatisfy { $0.counterExamples.isEmpty == $0.acceptsAnything })
    }

    @Test("allows members of later versions", arguments: everyName)
    func openObjects(_ name: String) throws {
        let type = try #require(BuiltInCatalogue.named(name))
        let schema = try type.compiled()
        for example in type.examples where example.hasPrefix("{") {
            let longer = example.dropLast() + (example == "{}" ? "" : ",") + #""of_a_later_day":[{}]}"#
            #expect(schema.report(on: try parsed(String(longer))).violations.isEmpty, "\(longer)")
        }
    }

    @Test(
        "describes its types and their members, those of the examples among them", arguments: everyName)
    func descriptions(_ name: String) throws {
        let type = try #require(BuiltInCatalogue.named(name))
        let root = try parsed(type.schema)
        #expect(root["title"]?.string == type.name)
        #expect(root["description"]?.string == type.description)
        #expect(root["$id"] == nil)
        expectDescriptions(in: root, of: root)
        guard let described = root["properties"] else { return }
        for example in type.examples {
            for member in try parsed(example).members ?? [] {
                #expect(described[member.name] != nil, "\(member.name)")
            }
        }
    }

    @Test("names users, channels and times as the REST API does, in every type", arguments: everyName)
    func vocabulary(_ name: String) throws {
        let former: Set<String> = [
            "user_id", "channel_id", "nickname", "freeze", "agent", "start_at", "end_at", "ts", "message_id",
            "is_typing",
        ]
        var names: [String] = []
        walk(try parsed(try #require(BuiltInCatalogue.named(name)).schema)) { member, schema in
            names.append(member)
            #expect(!former.contains(member) && !member.hasSuffix("_ts") && !member.hasSuffix("_ids"), "\(member)")
            guard member.hasSuffix("_at") else { return }
            #expect(schema["type"]?.string != "integer" && schema["type"]?.string != "number", "\(member)")
        }
        #expect(names.isEmpty == (BuiltInCatalogue.named(name)?.acceptsAnything ?? true))
    }

    /// Calls `visit` for every member that a schema describes, at any depth.
    private func walk(_ schema: JSONValue, _ visit: (_ name: String, _ schema: JSONValue) -> Void) {
        for (name, property) in schema["properties"]?.members ?? [] { visit(name, property) }
        for (_, inner) in schema.members ?? [] where inner.kind == .object { walk(inner, visit) }
        for (_, inner) in schema.members ?? [] { for element in inner.elements ?? [] { walk(element, visit) } }
    }

    /// Expects a description for every member, either its own or that of the definition it refers to.
    private func expectDescriptions(in schema: JSONValue, of root: JSONValue) {
        for (name, member) in schema["properties"]?.members ?? [] {
            let definition = member["$ref"]?.string.flatMap { root["$defs"]?[String($0.dropFirst("#/$defs/".count))] }
            #expect((member["description"] ?? definition?["description"])?.string?.isEmpty == false, "\(name)")
            expectDescriptions(in: member, of: root)
        }
        for (_, definition) in schema["$defs"]?.members ?? [] { expectDescriptions(in: definition, of: root) }
        if let items = schema["items"] { expectDescriptions(in: items, of: root) }
    }
}
