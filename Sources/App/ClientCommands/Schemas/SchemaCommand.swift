import ArgumentParser

/// `parley schema`: JSON Schemas on this machine, without a gateway and without a network.
///
/// The exit codes are its own, because "invalid" and "incompatible" are answers and no failures: scripts tell them apart
/// from a wrong option or a file that is not there.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Check schemas, validate documents, compare versions; offline.",
        discussion: """
            Nothing is ever fetched: what a schema refers to comes from --remotes, or is one of the published metaschemas.

            Exit codes: 0 yes or done, 1 wrong usage or a file that cannot be read, 2 the schema is refused, \
            4 some document is invalid, 5 the versions are incompatible, 6 it cannot be told whether they are.
            """,
        subcommands: [Validate.self, Check.self, Suite.self, Compat.self, Infer.self, Bench.self])

    /// What an exit code other than 0 says.
    enum Answer: Int32 {
        case wrongUsage = 1
        case refused = 2
        case disagreement = 3
        case invalid = 4
        case incompatible = 5
        case undecided = 6

        /// To be thrown when everything has been printed.
        var exit: ExitCode { ExitCode(rawValue) }
    }
}
