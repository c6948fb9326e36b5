package import ArgumentParser

/// What every client command takes.
package struct GatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The gateway's address; default: PARLEY_URL.", valueName: "url"))
    package var url: String?

    @Option(
        help: ArgumentHelp(
            "A command for the shell that prints a token to show in place of a key, run again when the token has ended; default: PARLEY_TOKEN_COMMAND.",
            valueName: "command"))
    package var tokenCommand: String?

    @Flag(name: .customLong("json"), help: "Print JSON, one value a line, for programs.")
    package var isJSON = false

    package init() {}

    /// Runs `body` with access to the gateway, and lets go of it afterwards.
    package func withGateway<Result>(
        _ body: (GatewayAccess, Surroundings) async throws -> Result
    ) async throws -> Result {
        let surroundings = Surroundings.current
        let address = try ServerAddress(url ?? surroundings.environment["PARLEY_URL"] ?? ServerAddress.standard)
        let access = try GatewayAccess(
            address: address, credential: try credential(for: address, surroundings.environment),
            surroundings: surroundings)
        do {
            let result = try await body(access, surroundings)
            await access.close()
            return result
        } catch {
            await access.close()
            throw error
        }
    }

    /// A token's command goes before a key: it is there to take its place.
    private func credential(
        for address: ServerAddress, _ environment: [String: String]
    ) throws(CommandFailure) -> Credential {
        let line = tokenCommand ?? environment["PARLEY_TOKEN_COMMAND"] ?? ""
        guard line.isEmpty else { return Credential(TokenCommand(line)) }
        return Credential(key: try Self.key(for: address, environment))
    }

    /// The key, from the environment only: an argument would stand in process lists.
    package static func key(
        for address: ServerAddress, _ environment: [String: String]
    ) throws(CommandFailure) -> String {
        if let key = environment["PARLEY_KEY"], !key.isEmpty {
            guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw CommandFailure("PARLEY_KEY holds characters no key has", code: 2)
            }
            return key
        }
        // Dev mode's key is well known and listens on loopback only; sent anywhere else it could only leak a habit.
        guard address.isLoopback else {
            throw CommandFailure("PARLEY_KEY is not set; \(address.url) needs an API key", code: 2)
        }
        return "dev"
    }
}
