import ArgumentParser
import ChatModel
import ClientCommands
import Gateway

/// `parley engine`: the commands for the database and the bus of a cluster.
struct EngineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine",
        abstract: "Check the servers of a cluster, upgrade its tables, record a restore, or move data to it.",
        subcommands: [Check.self, Upgrade.self, Restored.self, Migrate.self])

    /// `parley engine check`: checks the servers and the data of a cluster.
    struct Check: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check PostgreSQL and NATS for a cluster, and print a remedy for each fault.",
            discussion: """
                parley engine check --engine postgres://parley@db1,db2/parley --bus nats://n1,nats://n2

                It checks the version and settings of PostgreSQL, the rights of the role, the tables, the nodes, \
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
                may not create tables. Nodes may run meanwhile. The upgraded tables also serve nodes of the version \
                before, until the command runs with --finish.
                """)

        @Flag(help: "End the upgrade: remove what only nodes of the version before need, unless such a node runs.")
        var finish = false

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let servers = try options.clusterServers()
            do throws(SettingError) {
                let tables = try await servers.upgrade(isLast: finish)
                let remark =
                    tables.oldest < tables.version
                    ? "; nodes of version \(tables.oldest) can run until 'parley engine upgrade --finish'" : ""
                CommandEnvironment.current.console.output.line("the tables have version \(tables.version)\(remark)")
            } catch {
                throw CommandFailure(error.description)
            }
        }
    }

    /// `parley engine restored`: records that the database of a cluster was restored or copied.
    struct Restored: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Record that the database of a cluster was restored from a backup, or copied.",
            discussion: """
                parley engine restored --engine postgres://parley@db1/parley

                Run it once after a restore, before the first node starts. It gives the database a new identity, so \
                that its nodes do not exchange messages with those of the original. Clients that could have received \
                events after the backup receive a gap. No new event has a timetoken of the lost interval.
                """)

        @Flag(
            help: """
                Report no lost events: the copy was made while no node ran, for instance by pg_upgrade or to move the \
                database to another server.
                """)
        var complete = false

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let servers = try options.clusterServers()
            let interval: (after: Timetoken, upTo: Timetoken)?
            do throws(SettingError) {
                interval = try await servers.recordRestore(isComplete: complete)
            } catch { throw CommandFailure(error.description) }
            let loss =
                interval.map { "events from \($0.after.timestamp) to \($0.upTo.timestamp) are reported as lost" }
                ?? "no events are reported as lost"
            CommandEnvironment.current.console.output.line("the database has a new identity; \(loss)")
        }
    }

    /// `parley engine migrate`: copies the data of a stopped gateway into a PostgreSQL database.
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy the data of a stopped gateway into an empty PostgreSQL database.",
            discussion: """
                parley engine migrate --from /var/lib/parley --to postgres://parley@db1/parley

                Copies everything in one transaction, and compares each row with the original before the commit. After \
                an interruption, the database is as before. The data directory does not change. Timetokens, etags and \
                cursors stay valid. Presence and ephemeral events are not copied. Start the nodes of the cluster with \
                the same secrets_key, and never start a gateway with the old directory again.

                A URL with a password must not be an argument: set PARLEY_ENGINE to the URL, or PARLEY_ENGINE_FILE to \
                a file with the URL, and leave out --to.
                """)

        @Option(help: ArgumentHelp("The data directory of the stopped gateway.", valueName: "dir"))
        var from: String

        @Option(
            help: ArgumentHelp(
                "The PostgreSQL database, without a password; default: the setting engine or engine_file.",
                valueName: "url"))
        var to: String?

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            let configuration = try options.load().configuration
            let console = CommandEnvironment.current.console
            var bar = ProgressBar(on: console.errors)
            defer { bar.clear() }
            let counts: [EngineMigration.Count]
            do throws(SettingError) {
                counts = try await EngineMigration(from: from, to: to, configuration).run { step, done, total in
                    bar.show(StepProgress(name: step, done: done, total: total))
                }
            } catch { throw CommandFailure(error.description) }
            bar.clear()
            for count in counts { console.output.line("\(count.rows) \(count.name)") }
            console.output.line(
                "\(console.output.style.good("ok")): migrated \(SanitizedText.safe(from)); the copy was compared with "
                    + "the original")
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
