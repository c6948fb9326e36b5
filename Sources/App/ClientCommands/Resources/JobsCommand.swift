import ArgumentParser
import GatewayClient

/// `parley jobs`: shows running replays, redrives and purges.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "Watch, pause and cancel jobs, which replay, redrive or purge deliveries.",
        subcommands: [List.self, Get.self, Pause.self, Resume.self, Cancel.self])

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the jobs, by default the newest first.")

        enum State: String, ExpressibleByArgument, CaseIterable { case running, paused, done, cancelled, failed }

        @Option(help: "Only jobs with this status; may be repeated.")
        var state: [State] = []

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            var path = RequestPath("jobs")
            path.add("state", each: state.map(\.rawValue))
            try await gateway.withResources { [path = list.adding(to: path)] access, output in
                try await output.list(
                    PagedList(access: access, path: path),
                    columns: ["id", "kind", "state", "webhook", "done", "skipped", "count", "created_at"].map {
                        Column($0)
                    },
                    empty: "no jobs")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a job and its progress.")

        @Argument(help: "The job's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(RequestPath("jobs", id)) }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Pause a job.")

        @Argument(help: "The job's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.post("pause", to: id) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a job.")

        @Argument(help: "The job's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.post("resume", to: id) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Cancel a job. The work done so far is not undone.")

        @Argument(help: "The job's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.post("cancel", to: id) }
    }
}

extension GatewayOptions {
    fileprivate func post(_ verb: String, to job: String) async throws {
        try await withResources { access, output in
            output.show(try await access.send(Call("POST", RequestPath("jobs", job, verb))))
        }
    }
}
