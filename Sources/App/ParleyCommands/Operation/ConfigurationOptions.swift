import ArgumentParser
import ClientCommands
import Gateway
import Glibc

/// Where the gateway's settings come from: a file, the environment, and these flags, the later one winning.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A YAML file of settings; default: PARLEY_CONFIG.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Where to listen; port 0 picks a free one.", valueName: "host:port"))
    var listen: String?

    @Option(help: ArgumentHelp("The directory of the database; made when missing.", valueName: "dir"))
    var data: String?

    @Flag(help: "For trying: well-known keys, on a loopback address only.")
    var dev = false

    @Option(
        help: ArgumentHelp("Any setting of 'parley config print'; may be given several times.", valueName: "name=value")
    )
    var set: [String] = []

    func validate() throws {
        for setting in set where !setting.contains("=") {
            throw ValidationError("--set takes NAME=VALUE, not '\(setting)'.")
        }
    }

    /// The settings in force.
    ///
    /// - Throws: what is wrong with them, as wrong usage when the flags alone are.
    ///
    /// - Parameter file: to be read in place of the one named.
    func load(file other: String? = nil) throws(CommandFailure) -> LoadedConfiguration {
        let environment = CommandEnvironment.current.environment
        var file: (name: String, text: String)?
        if let name = other ?? config ?? environment["PARLEY_CONFIG"], !name.isEmpty {
            file = (name, String(decoding: try InputText.file(name), as: UTF8.self))
        }
        do { return try ConfigurationLoader.load(file: file, environment: environment, flags: flags) } catch {
            throw CommandFailure(error.description, code: areFlagsGood ? 1 : 2)
        }
    }

    private var areFlagsGood: Bool {
        // Asked only to tell whose fault it is; the fault itself has been told.
        (try? ConfigurationLoader.load(file: nil, environment: [:], flags: flags)) != nil
    }

    private var flags: [(name: String, value: String)] {
        var flags: [(name: String, value: String)] = set.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        if let listen { flags.append(("listen", listen)) }
        if let data { flags.append(("data", data)) }
        if dev { flags.append(("dev", "true")) }
        return flags
    }
}
