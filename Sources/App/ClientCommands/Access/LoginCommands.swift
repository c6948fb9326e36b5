import ArgumentParser
import GatewayClient
import Glibc
import JSON

/// `parley login`: stores the address of a gateway and a key as a profile.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Save a gateway's address and an API key for later commands.",
        discussion: """
            parley login --url https://parley.example
            parley login --profile staging --url https://staging.example < staging-key

            The command asks for the key, or reads it from the first line of the standard input. No option takes the \
            key, because process lists show arguments. The command checks the key and saves it in \
            $XDG_CONFIG_HOME/parley/profiles.json (by default below ~/.config), which only you can read. The profile \
            'default' is used unless an option or PARLEY_URL with PARLEY_KEY names a gateway; --profile or \
            PARLEY_PROFILE selects another profile.
            """)

    @Option(help: ArgumentHelp("The name of the profile.", valueName: "name")) var profile = Profile.standard
    @Option(help: ArgumentHelp("The gateway's address.", valueName: "url")) var url: String
    @Flag(name: .customLong("json"), help: "Print JSON for programs.") var isJSON = false

    func run() async throws {
        try Profile.check(name: profile)
        let address = try ServerAddress(url)
        let commandEnvironment = CommandEnvironment.current
        let console = commandEnvironment.console
        if address.url.hasPrefix("http://"), !address.isLoopback {
            console.errors.line("warning: http:// sends the key unencrypted; use https://")
        }
        let key = try KeyPrompt.read(for: address, commandEnvironment)
        let store = try ProfileStore(commandEnvironment.environment)
        let access = try GatewayAccess(
            address: address, credential: Credential(key: key, source: "the key"),
            commandEnvironment: commandEnvironment)
        let session: GatewayResponse
        do { session = try await access.send(Call("GET", RequestPath("session"))) } catch {
            await access.close()
            throw error
        }
        await access.close()
        try store.save(Profile(name: profile, address: address, key: key))
        guard let document = session.document else { return }
        guard !isJSON else { return console.output.line(document.text.onOneLine().bytes) }
        let (app, name) = (document.root["app"]?["id"]?.string ?? "-", document.root["name"]?.string ?? "-")
        let scopes = document.root["scopes"]?.strings?.joined(separator: ", ") ?? "-"
        console.output.line(
            "\(console.output.style.good("logged in")) to \(address.url), app \(SanitizedText.safe(app)), with the key "
                + "'\(SanitizedText.safe(name))' (\(SanitizedText.safe(scopes))); profile '\(profile)'")
    }
}

/// `parley logout`: removes a profile that `parley login` has stored.
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Delete the saved address and key of a gateway; the key itself stays valid.",
        discussion: "'parley keys delete ID' revokes a key.")

    @Option(help: ArgumentHelp("The name of the profile.", valueName: "name")) var profile = Profile.standard

    func run() throws {
        let commandEnvironment = CommandEnvironment.current
        let store = try ProfileStore(commandEnvironment.environment)
        guard try store.remove(profile) else {
            throw CommandFailure(
                "no profile has the name '\(SanitizedText.safe(profile))'; 'parley profiles' lists the profiles")
        }
        let output = commandEnvironment.console.output
        output.line("\(output.style.good("deleted")) the profile \(SanitizedText.safe(profile))")
    }
}

/// `parley profiles`: lists the profiles that `parley login` has stored.
struct ProfilesCommand: ParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles", abstract: "List the gateways saved by 'parley login', without their keys.")

    @Flag(name: .customLong("json"), help: "Print JSON for programs, one value per line.") var isJSON = false

    func run() throws {
        let commandEnvironment = CommandEnvironment.current
        let profiles = try ProfileStore(commandEnvironment.environment).load()
        let console = commandEnvironment.console
        var table = Table(["profile", "url"])
        for profile in profiles {
            table.add([profile.name, profile.address.url])
            guard isJSON else { continue }
            console.output.line(
                JSONText { writer in
                    writer.beginObject()
                    writer.member("name", profile.name)
                    writer.member("url", profile.address.url)
                    writer.endObject()
                }.bytes)
        }
        guard !isJSON else { return }
        guard !profiles.isEmpty else { return console.errors.line("no profiles; 'parley login --url URL' creates one") }
        for line in table.lines(console.output.style) { console.output.line(line) }
    }
}

/// Reads a key from the terminal without showing it.
private enum KeyPrompt {
    private static let keyBytes = 16 * 1024

    static func read(
        for address: ServerAddress, _ commandEnvironment: CommandEnvironment
    ) throws(CommandFailure) -> String {
        let input = commandEnvironment.input
        let isTerminal = isatty(input) == 1
        if isTerminal { commandEnvironment.console.errors.text("API key for \(address.url): ") }
        let bytes = try isTerminal ? hidden(input, commandEnvironment.console) : line(input)
        guard let key = String(validating: bytes, as: UTF8.self), !key.isEmpty else {
            throw CommandFailure("no key was given; pass it as the first line of the standard input", code: 2)
        }
        try GatewayOptions.check(key: key, from: "the key")
        return key
    }

    private static func hidden(_ input: Int32, _ console: Console) throws(CommandFailure) -> [UInt8] {
        var settings = termios()
        guard tcgetattr(input, &settings) == 0 else { return try line(input) }
        var silent = settings
        // Signals are disabled, as in getpass(3). Otherwise an interrupt would leave the terminal without echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(input, TCSAFLUSH, &silent)
        defer {
            tcsetattr(input, TCSAFLUSH, &settings)
            console.errors.line("")
        }
        return try line(input)
    }

    /// Reads a line, and returns it without the line end.
    private static func line(_ input: Int32) throws(CommandFailure) -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= keyBytes {
            let count = Glibc.read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure("the standard input cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 || byte == 0x0A { break }
            line.append(byte)
        }
        if line.last == 0x0D { line.removeLast() }
        return line
    }
}
