import ArgumentParser
import GatewayClient
import JSON

extension SubscriptionsCommand {
    struct Pull: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print deliveries as they arrive, one per line.",
            discussion: """
                With --json each line is {"ack_id", "attempt", "event"}. A delivery that is not acknowledged, by --ack \
                or by 'parley subscriptions ack', is delivered again after the subscription's deadline.
                """)

        /// The number of seconds for which a pull request waits for deliveries. It is less than the gateway's maximum
        /// wait and the client's timeout.
        private static let waitSeconds = 20

        @Argument(help: "The subscription's id.") var id: String

        @Flag(help: "Acknowledge the printed deliveries.") var ack = false

        @Flag(help: "Continue to pull until interrupted.") var follow = false

        @Option(help: ArgumentHelp("The maximum number of deliveries in one request.", valueName: "n")) var limit =
            100

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard (1...250).contains(limit) else { throw ValidationError("--limit must be from 1 to 250.") }
        }

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("limit", limit)
                writer.member("wait_seconds", follow ? Self.waitSeconds : 0)
                writer.endObject()
            }
            try await gateway.withGateway { access, commandEnvironment in
                repeat {
                    let path = SubscriptionsCommand.path(id, "pull")
                    let answer = try await access.send(Call("POST", path, body: body))
                    let ids = print(answer, to: commandEnvironment.console.output)
                    if ack, !ids.isEmpty { try await acknowledge(ids, access) }
                } while follow && !Task.isCancelled
            }
        }

        /// Prints the pulled deliveries.
        ///
        /// - Returns: the ids to acknowledge.
        private func print(_ answer: GatewayResponse, to output: Sink) -> [String] {
            guard let document = answer.document, let values = document.root["data"]?.elements,
                let texts = document.text.rawMember("data")?.rawElements()
            else { return [] }
            for (text, value) in zip(texts, values) {
                if gateway.isJSON {
                    output.line(text.onOneLine().bytes)
                } else if let envelope = text.rawMember("event"), let event = value["event"] {
                    output.line(EventLine.text(envelope, event, output.style))
                }
            }
            return values.compactMap { $0["ack_id"]?.string }
        }

        private func acknowledge(_ ids: [String], _ access: GatewayAccess) async throws {
            let path = SubscriptionsCommand.path(id, "ack")
            let answer = try await access.send(Call("POST", path, body: SubscriptionsCommand.body(ids)))
            try SubscriptionsCommand.requireNoneLost(answer)
        }
    }

    struct Ack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Acknowledge deliveries; fails if the deadline of a delivery has passed.")

        @Argument(help: "The subscription's id.") var id: String
        @Argument(help: "The ack_id that 'pull --json' printed.") var ackIDs: [String]
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.respond("ack", of: id, SubscriptionsCommand.body(ackIDs))
        }
    }

    struct Nack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Return deliveries, so that they are delivered again; fails if the deadline of a delivery has passed.")

        @Argument(help: "The subscription's id.") var id: String
        @Argument(help: "The ack_id that 'pull --json' printed.") var ackIDs: [String]
        @Option(help: ArgumentHelp("The delay before the redelivery.", valueName: "seconds")) var delay = 0
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.respond("nack", of: id, SubscriptionsCommand.body(ackIDs, ("delay_seconds", delay)))
        }
    }

    struct Extend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Extend the deadlines of deliveries; fails if the deadline of a delivery has passed.")

        @Argument(help: "The subscription's id.") var id: String
        @Argument(help: "The ack_id that 'pull --json' printed.") var ackIDs: [String]
        @Option(help: ArgumentHelp("The time from now until the new deadline.", valueName: "seconds")) var seconds: Int
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.respond("extend", of: id, SubscriptionsCommand.body(ackIDs, ("seconds", seconds)))
        }
    }

    static func body(_ ids: [String], _ number: (name: String, value: Int)? = nil) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("ack_ids", ids)
            if let number {
                writer.key(text: number.name)
                writer.integer(number.value)
            }
            writer.endObject()
        }
    }
}

extension GatewayOptions {
    /// Acknowledges, returns or rejects pulled deliveries, and prints the result.
    fileprivate func respond(_ verb: String, of subscription: String, _ body: JSONText) async throws {
        try await withResources { access, output in
            let path = SubscriptionsCommand.path(subscription, verb)
            let answer = try await access.send(Call("POST", path, body: body))
            output.show(answer, tabulating: "data", as: [Column("ack_id"), Column("result")])
            try SubscriptionsCommand.requireNoneLost(answer)
        }
    }
}

extension SubscriptionsCommand {
    fileprivate static func requireNoneLost(_ answer: GatewayResponse) throws {
        let results = answer.document?.root["data"]?.elements ?? []
        let lost = results.count { $0["result"]?.string == "lost" }
        guard lost > 0 else { return }
        throw CommandFailure(
            "\(lost) of \(results.count) deliveries stayed unchanged: their deadline had passed, or they were already acknowledged"
        )
    }
}
