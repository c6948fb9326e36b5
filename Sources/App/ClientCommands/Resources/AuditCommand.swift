import ArgumentParser

/// `parley audit`: who changed what.
struct AuditCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List what was changed by administration, newest first unless asked otherwise.",
        discussion: "parley audit --action 'key.*' --limit 20")

    enum Result: String, ExpressibleByArgument, CaseIterable { case done, refused }

    @Option(help: ArgumentHelp("Only what this credential did.", valueName: "key-id"))
    var actor: String?

    @Option(help: ArgumentHelp("Only this action, or all of a subject: 'key.*'.", valueName: "action"))
    var action: String?

    @Option(help: ArgumentHelp("Only what was done to this.", valueName: "id"))
    var resource: String?

    @Option(help: "Only what was done, or refused.")
    var result: Result?

    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit = 50

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        let path = list.adding(
            to: RequestPath("v1", "audit").adding("actor", actor).adding("action", action)
                .adding("resource", resource).adding("result", result?.rawValue))
        try await gateway.withResources { access, output in
            try await output.list(
                PagedList(access: access, path: path), limit: limit,
                columns: [
                    Column("at"), Column("action"), Column("resource"), Column("result"), Column("actor"),
                    Column("address"),
                ],
                empty: "no entries")
        }
    }
}
