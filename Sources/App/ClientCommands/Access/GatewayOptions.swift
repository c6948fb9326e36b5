package import ArgumentParser

/// The options that all client commands have.
package struct GatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The gateway's address; default: PARLEY_URL.", valueName: "url"))
    package var url: String?

    @Option(
        help: ArgumentHelp(
            "A shell command that prints a token, which is used instead of a key; the command runs again when the token has expired. Default: PARLEY_TOKEN_COMMAND.",
            valueName: "command"))
    package var tokenCommand: String?

    @Option(
        help: ArgumentHelp(
            "A profile saved by 'parley login'; default: PARLEY_PROFILE, else 'default'.",
            valueName: "name"))
    package var profile: String?

    @Flag(name: .customLong("json"), help: "Print JSON for programs, one value per line.")
    package var isJSON = false

    package init() {}

    /// Runs `body` with access to the gateway, and closes the connections afterwards.
    package func withGateway<Result>(
        _ body: (GatewayAccess, CommandEnvironment) async throws -> Result
    ) async throws -> Result {
        let commandEnvironment = CommandEnvironment.current
        let target = try GatewayTarget(
            url: url, tokenCommand: tokenCommand, profile: profile, commandEnvironment.environment)
        let access = try GatewayAccess(
            address: target.address, credential: target.credential, commandEnvironment: commandEnvironment)
        do {
            let result = try await body(access, commandEnvironment)
            await access.close()
            return result
        } catch {
            await access.close()
            throw error
        }
    }
}

/// The address of the gateway and the credential that a command uses.
///
/// The sources of the address, in order of precedence, are: the option `--url`, the profile that `--profile` names, the
/// variable `PARLEY_URL`, and the profile that `PARLEY_PROFILE` names or the default profile. The key of a profile is
/// sent only to the address of the profile.
struct GatewayTarget {
    let address: ServerAddress
    let credential: Credential

    /// Determines the address and the credential from the options, the environment and the profiles.
    ///
    /// - Throws: a usage error for a missing profile, for an invalid URL or key, or when there is no key.
    init(
        url: String?, tokenCommand: String?, profile name: String?, _ environment: [String: String]
    ) throws(CommandFailure) {
        let chosen = try Self.profile(name, environment)
        let isOption = name != nil
        let variable = environment["PARLEY_URL"].flatMap { $0.isEmpty ? nil : $0 }
        let address: ServerAddress =
            if let url {
                try ServerAddress(url)
            } else if let chosen, isOption || variable == nil {
                chosen.address
            } else {
                try ServerAddress(variable ?? ServerAddress.standard)
            }
        self.address = address
        // `PARLEY_KEY` belongs to `PARLEY_URL`. The profile's key takes precedence only if the profile determines the
        // address.
        let isOfProfile = url == nil && variable == nil && chosen != nil
        // A profile's key is sent only to the profile's gateway.
        let profile = chosen.flatMap { $0.address == address ? $0 : nil }
        func kept(_ profile: Profile) -> Credential {
            Credential(key: profile.key, source: "the profile '\(profile.name)' ('parley login')")
        }
        let line = tokenCommand ?? (isOption ? "" : environment["PARLEY_TOKEN_COMMAND"] ?? "")
        if !line.isEmpty {
            credential = Credential(TokenCommand(line))
        } else if let profile, isOption || isOfProfile {
            credential = kept(profile)
        } else if let profile, (environment["PARLEY_KEY"] ?? "").isEmpty {
            credential = kept(profile)
        } else {
            credential = Credential(key: try GatewayOptions.key(for: address, environment))
        }
    }

    /// Returns the profile to use: the named profile or the default profile.
    ///
    /// - Returns: nil in two cases when no profile is named: the environment contains an address or a credential, or
    ///   there is no default profile.
    private static func profile(
        _ option: String?, _ environment: [String: String]
    ) throws(CommandFailure) -> Profile? {
        let named = option ?? environment["PARLEY_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        // If the environment has an address or a credential, the default profile is not used, so that no key is sent to
        // another address.
        let variables = ["PARLEY_URL", "PARLEY_KEY", "PARLEY_TOKEN_COMMAND"]
        if named == nil, variables.contains(where: { !(environment[$0] ?? "").isEmpty }) { return nil }
        // Without a home directory there are no profiles. This is an error only if a profile is named.
        if named == nil, !(environment["XDG_CONFIG_HOME"] ?? "").hasPrefix("/"),
            !(environment["HOME"] ?? "").hasPrefix("/")
        {
            return nil
        }
        let profiles = try ProfileStore(environment).load(isNeeded: named != nil)
        if let profile = profiles.first(where: { $0.name == named ?? Profile.standard }) { return profile }
        guard let named else { return nil }
        let names =
            profiles.isEmpty
            ? "no profiles exist" : "existing profiles: \(profiles.map(\.name).joined(separator: ", "))"
        throw CommandFailure(
            "no profile has the name '\(named)'; \(names); 'parley login --profile \(named) --url URL' creates it",
            code: 2)
    }
}

extension GatewayOptions {
    /// Returns the key from the environment. An argument is not accepted, because process lists would show the key.
    package static func key(
        for address: ServerAddress, _ environment: [String: String]
    ) throws(CommandFailure) -> String {
        if let key = environment["PARLEY_KEY"], !key.isEmpty {
            try check(key: key, from: "PARLEY_KEY")
            return key
        }
        // The key of dev mode is public and valid only on loopback, so it is never sent to another address.
        guard address.isLoopback else {
            throw CommandFailure(
                "\(address.url) requires a key: set PARLEY_KEY or use 'parley login'", code: 2
            )
        }
        return "dev"
    }

    /// Checks that a key can be sent in a header field.
    ///
    /// - Parameter source: the subject of the error message, such as `PARLEY_KEY` or `the key`.
    /// - Throws: a usage error when the key contains a character other than visible ASCII characters.
    static func check(key: String, from source: String) throws(CommandFailure) {
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure("\(source) contains characters that are not allowed in a key", code: 2)
        }
    }
}
