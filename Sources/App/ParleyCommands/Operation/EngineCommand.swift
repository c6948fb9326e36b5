import ArgumentParser
import ClientCommands
import Gateway

/// `parley engine`: the commands for the database and the bus of a cluster.
struct EngineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine", abstract: "Check or upgrade the PostgreSQL database of a cluster.",
        subcommands: [Check.self, Upgrade.self])

    /// `parley engine check`: checks the servers and the data of a cluster.
    struct Check: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check PostgreSQL and NATS for a cluster, and print a remedy for each fault.",
            discussion: """
                parley engine check --engine postgres://parley@db1,db2/parley --bus nats://n1,nats://n2

                It checks the versions and settings of the servers, the rights of the role, the tables, the nodes, \
                the lag of deliveries, the replication, the clocks, and a message through NATS. It needs no running \
                node, and changes nothing. Exit code 1 means that something does not work.
                """)

        @OptionGroup var options: ConfigurationOptions

        @Flag(name: .customLong("json"), help: "Print JSON for programs, one finding per line.")
        var isJSON = false

        func run() async throws {
            try CheckReport(isJSON: isJSON).print(await options.clusterServers().check())
        }
    }

    /// `parley engine upgrade`: creates or upgrades the tables of a cluster.
    struct Upgrade: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create or upgrade the tables of a cluster, as the role that owns them.",
            discussion: """
                PARLEY_ENGINE=postgres://parley_owner:PASSWORD@db1/parley parley engine upgrade

                A node does the same when it starts. The command is for a database in which the role of the nodes \
                may not create tables. Nodes may run meanwhile.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let servers = try options.clusterServers()
            do throws(SettingError) {
                let version = try await servers.upgrade()
                CommandEnvironment.current.console.output.line("the tables have version \(version)")
            } catch {
                throw CommandFailure(error.description)
            }
        }
    }
}

extension ConfigurationOptions {
    /// Loads the settings of a cluster.
    fileprivate func clusterServers() throws(CommandFailure) -> ClusterServers {
        let configuration = try load().configuration
        do throws(SettingError) { return try ClusterServers(configuration) } catch {
            throw CommandFailure(error.description)
        }
    }
}
