import ArgumentParser
import GatewayClient
import JSON

/// `parley channels`: manages channel records.
struct ChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "List channels and their members; create, change and delete their records.",
        subcommands: [List.self, Get.self, Members.self, Create.self, Change.self, Delete.self])

    static func path(_ id: String) -> RequestPath { RequestPath("channels", id) }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the channels that have a record.",
            discussion: """
                parley channels list --filter "kind == 'group'" --sort name

                A channel exists as soon as it is used and needs no record: 'parley history' reads the events of any \
                channel.
                """)

        @OptionGroup var records: RecordListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await records.printList(
                ["channels"], of: gateway,
                columns: [
                    Column("id"), Column("kind"), Column("name"), Column("member_count", title: "members"),
                    Column("frozen"), Column("updated_at", title: "updated"),
                ],
                empty: "no channels have a record; 'parley channels create --kind public' creates one")
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a channel's record.")

        @Argument(help: "The channel's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(ChannelsCommand.path(id)) }
    }

    struct Members: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List a channel's members.")

        @Argument(help: "The channel's id.") var id: String
        @OptionGroup var records: RecordListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await records.printList(
                ["channels", id, "members"], of: gateway,
                columns: [
                    Column("user"), Column("state"), Column("role"), Column("created_at", title: "since"),
                    Column("read_timetoken", title: "read up to"),
                ],
                empty: "no members")
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a channel's record.",
            discussion: """
                parley channels create crew --kind group --name Crew --user ana --user ben
                parley channels create --kind direct --user ana --user ben
                """)

        enum Kind: String, ExpressibleByArgument, CaseIterable { case direct, group, `public`, open }

        @Argument(help: "The channel's id; default: a generated one.") var id: String?
        @Option(help: "The kind of the channel, which determines who may read and write it.") var kind: Kind
        @Option(help: ArgumentHelp("A user who becomes a member; may be repeated.", valueName: "user")) var user:
            [String] = []
        @OptionGroup var settings: ChannelOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let options: [(name: String, value: JSONText?)] = [
                ("id", JSONText(option: id)), ("kind", JSONText(string: kind.rawValue)),
                ("users", user.isEmpty ? nil : JSONText(strings: user)),
            ]
            let body = try RequestDocument.object(settings.file, options + settings.members)
            try await gateway.withResources { access, output in
                let call = Call(
                    "POST", RequestPath("channels"), body: body,
                    idempotencyKey: EmissionForm.newIdempotencyKey())
                output.show(try await access.send(call))
            }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change the given values of a channel's record; other values stay unchanged.",
            discussion: "parley channels set crew --name 'The crew' --custom '{\"floor\":3}'")

        @Argument(help: "The channel's id.") var id: String
        @OptionGroup var settings: ChannelOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try RequestDocument.object(settings.file, settings.members)
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("PATCH", ChannelsCommand.path(id), body: body)))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a channel's record with its memberships.")

        @Argument(help: "The channel's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.delete(id, ChannelsCommand.path(id)) }
    }
}

/// The options for the fields of a channel record. Only the given fields are sent.
struct ChannelOptions: ParsableArguments {
    @Option(help: "The display name.") var name: String?
    @Option(help: "The purpose of the channel.") var description: String?
    @Option(help: ArgumentHelp("A label for grouping channels.", valueName: "label")) var customType: String?
    @Option(help: ArgumentHelp("The address of the channel's picture.", valueName: "url")) var coverURL: String?
    @Option(help: "A type that the app defines.") var type: String?
    @Option(help: "A status that the app defines.") var status: String?
    @Option(help: ArgumentHelp("Values that the app defines: a JSON object, @FILE or -.", valueName: "json"))
    var custom: String?
    @Option(
        help: ArgumentHelp(
            "A JSON object with the values to set: JSON, @FILE or -. Options take precedence.", valueName: "json"))
    var file: String?

    var members: [(name: String, value: JSONText?)] {
        get throws(CommandFailure) {
            [
                ("name", JSONText(option: name)), ("description", JSONText(option: description)),
                ("custom_type", JSONText(option: customType)), ("cover_url", JSONText(option: coverURL)),
                ("type", JSONText(option: type)), ("status", JSONText(option: status)),
                ("custom", try JSONText(option: custom, named: "--custom")),
            ]
        }
    }
}

/// The options that select the records of a list.
struct RecordListOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only records that match this filter expression.", valueName: "expression"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "The member of the records to sort by, such as 'name' or 'name:desc'; may be repeated.", valueName: "member"
        ))
    var sort: [String] = []

    @OptionGroup var length: LengthOptions

    /// Prints the selected records of a list.
    ///
    /// - Parameters:
    ///   - columns: the members to show, as columns of a table.
    ///   - empty: the sentence to print when the list is empty.
    func printList(
        _ segments: [String], of gateway: GatewayOptions, columns: [Column], empty: String
    ) async throws {
        var path = RequestPath(segments).adding("filter", filter)
        path.add("sort", each: sort)
        let list = path
        try await gateway.withResources { access, output in
            try await output.list(
                PagedList(access: access, path: list), limit: length.limit, columns: columns, empty: empty)
        }
    }
}

/// The options that limit the length of a printed list.
struct LengthOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The maximum number of elements to list.", valueName: "n"))
    var limit = 50

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }
}
