package import ArgumentParser

/// The commands that use no module of the server: the commands that call a running gateway, and the commands below
/// `schema`.
///
/// They are compiled in parallel with the server. `ParleyCommands` adds them to `parley`.
package enum ClientCommands {
    package static let events = CommandGroup(
        name: "Event", subcommands: [EmitCommand.self, ListenCommand.self, HistoryCommand.self, EventsCommand.self])

    package static let chat = CommandGroup(
        name: "Chat", subcommands: [MessagesCommand.self, ChannelsCommand.self, UsersCommand.self])

    /// Returns the group of the commands for resources, such as webhooks and sources.
    ///
    /// - Parameter keys: the command `parley keys`, which is defined in another module.
    package static func resources(keys: any ParsableCommand.Type) -> CommandGroup {
        CommandGroup(
            name: "Resource",
            subcommands: [
                WebhooksCommand.self, DeliveriesCommand.self, JobsCommand.self, SubscriptionsCommand.self,
                SourcesCommand.self, TypesCommand.self, keys, AuditCommand.self, AppsCommand.self,
            ])
    }

    package static let access = CommandGroup(
        name: "Access", subcommands: [LoginCommand.self, LogoutCommand.self, ProfilesCommand.self])

    package static let keys = KeyCommands.all

    package static let schemas = CommandGroup(name: "Schema", subcommands: [SchemaCommand.self])

    /// The command `parley bench`, which is listed among the gateway's commands.
    package static let bench: any ParsableCommand.Type = LoadCommand.self

    /// Returns the exit code of wrong usage: 2. For commands below `schema` it is 1, because 2 means a rejected schema
    /// there.
    package static func usageCode(for arguments: [String]) -> Int32 {
        arguments.first == SchemaCommand._commandName ? SchemaCommand.Answer.wrongUsage.rawValue : 2
    }
}
