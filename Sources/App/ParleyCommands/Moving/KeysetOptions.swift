import ArgumentParser
import ClientCommands

/// The options that name the exported keyset and its credentials.
struct KeysetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The address of the keyset's service. Default: https://ps.pndsn.com.", valueName: "url"))
    var origin = "https://ps.pndsn.com"

    @Option(name: .customLong("subscribe-key"), help: ArgumentHelp("The keyset's subscribe key.", valueName: "key"))
    var subscribeKey: String

    @Option(
        name: .customLong("publish-key"),
        help: ArgumentHelp("The keyset's publish key, required for signed requests.", valueName: "key"))
    var publishKey: String?

    @Option(
        name: .customLong("secret-key"),
        help: ArgumentHelp(
            "@FILE with the keyset's secret key, which signs the requests; default: PUBNUB_SECRET_KEY.",
            valueName: "@file"))
    var secretKey: String?

    @Option(
        help: ArgumentHelp(
            "@FILE with an access token that permits reading everything, instead of the secret key; default: PUBNUB_TOKEN.",
            valueName: "@file"))
    var token: String?

    @Option(name: .customLong("user-id"), help: ArgumentHelp("The user id sent with the requests.", valueName: "user"))
    var userID = "parley-move"

    @Option(
        help: ArgumentHelp(
            "A channel to export in addition to the channels that the keyset lists; may be repeated.",
            valueName: "name"))
    var channel: [String] = []

    @Option(
        name: .customLong("channels-from"),
        help: ArgumentHelp("A file with additional channels to export, one per line.", valueName: "file"))
    var channelsFrom: String?

    @Option(
        help: ArgumentHelp(
            "A part to leave out: users, channels, memberships, groups or messages; may be repeated.", valueName: "part"
        ))
    var without: [KeysetPart] = []

    @Option(help: ArgumentHelp("The maximum number of requests per second.", valueName: "n"))
    var rate = 20

    @Option(
        help: ArgumentHelp(
            "A file that records the progress of each channel, so that a later run continues from there.",
            valueName: "file"))
    var state: String?

    func validate() throws {
        guard (1...1000).contains(rate) else { throw ValidationError("--rate must be from 1 to 1000.") }
        guard !subscribeKey.isEmpty else { throw ValidationError("The subscribe key must not be empty.") }
        for (name, value) in [("secret-key", secretKey), ("token", token)] {
            guard value?.hasPrefix("@") ?? true else {
                throw ValidationError("--\(name) takes @FILE, because process lists show arguments.")
            }
        }
    }

    func access(_ commandEnvironment: CommandEnvironment) throws -> KeysetAccess {
        func secret(_ option: String?, _ variable: String) throws(CommandFailure) -> String? {
            if let option { return try InputText.secret(option) }
            return commandEnvironment.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        }
        let secretKey = try secret(secretKey, "PUBNUB_SECRET_KEY")
        guard secretKey == nil || publishKey != nil else {
            throw CommandFailure("signed requests need the publish key: pass --publish-key", code: 2)
        }
        return try KeysetAccess(
            address: ServerAddress(origin), subscribeKey: subscribeKey, publishKey: publishKey, secretKey: secretKey,
            token: try secret(token, "PUBNUB_TOKEN"), userID: userID, rate: rate, commandEnvironment: commandEnvironment
        )
    }

    func channels() throws -> [String] {
        guard let channelsFrom else { return channel }
        let text = String(decoding: try InputText.source(channelsFrom), as: UTF8.self)
        return channel
            + text.split(whereSeparator: \.isNewline).map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }
}

/// A part of a keyset that can be exported.
enum KeysetPart: String, CaseIterable, ExpressibleByArgument { case users, channels, memberships, groups, messages }
