import Glibc
import JSON
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("Profiles") struct ProfileTests {
    private static let session = #"{"app":{"id":"demo"},"name":"admin","scopes":["admin"]}"#

    private static func gateway() throws -> ScriptedServer {
        try ScriptedServer { request in
            request["authorization"] == "Bearer good-key"
                ? .answer(200, request.target == "/v1/session" ? session : #"{"data":[],"next_cursor":null}"#)
                : .answer(401, #"{"title":"No such key","status":401}"#)
        }
    }

    private static func login(
        _ gateway: ScriptedServer, _ folder: TemporaryFolder, _ arguments: String..., input: String = "good-key\n"
    ) async throws -> ProgramRun {
        try await parley(
            ["login", "--url", gateway.baseURL] + arguments, input: input, key: nil,
            environment: ["XDG_CONFIG_HOME": folder.path])
    }

    /// The permissions of a file or folder; 0 if it does not exist.
    private static func mode(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("are stored once their key was tried, readable for their user only")
    func login() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway()
        let run = try await Self.login(gateway, folder)
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines == ["logged in to \(gateway.baseURL), app demo, with the key 'admin' (admin); profile 'default'"])
        #expect(!(run.output + run.errors).contains("good-key"))
        #expect(Self.mode(of: folder.path + "/parley/profiles.json") == 0o600)
        #expect(Self.mode(of: folder.path + "/parley") == 0o700)
        let list = try await parley("keys", "list", key: nil, environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(list.code == 0, "\(list.errors)")
        let profiles = try await parley("profiles", environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(profiles.lines == ["PROFILE  URL", "default  \(gateway.baseURL)"])
    }

    @Test("are not kept with a key that is refused, is none, or cannot be one", arguments: ["bad-key", "", "a b"])
    func refused(_ key: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await Self.login(try Self.gateway(), folder, input: key)
        #expect(run.code != 0)
        #expect(try await parley("profiles", environment: ["XDG_CONFIG_HOME": folder.path]).output.isEmpty)
    }

    @Test("are several, and forgotten one by one")
    func several() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway()
        _ = try await Self.login(gateway, folder)
        _ = try await Self.login(gateway, folder, "--profile", "staging")
        let environment = ["XDG_CONFIG_HOME": folder.path]
        #expect(
            try await parley("profiles", "--json", environment: environment).lines.map {
                try JSONDocument(Array($0.utf8)).root["name"]?.string
            } == ["default", "staging"])
        #expect(try await parley("logout", environment: environment).code == 0)
        #expect(try await parley("logout", environment: environment).code == 1)
        #expect(try await parley("profiles", environment: environment).lines.count == 2)
        #expect(
            try await parley("keys", "list", "--profile", "staging", key: nil, environment: environment).code == 0)
        let unknown = try await parley("keys", "list", "--profile", "x", key: nil, environment: environment)
        #expect(unknown.code == 2 && unknown.errors.contains("existing profiles: staging"), "\(unknown.errors)")
        #expect(try await Self.login(gateway, folder, "--profile", "../x").code == 2)
    }

    @Test("come after options and variables, and send their key to their own address alone")
    func precedence() async throws {
        let folder = try TemporaryFolder()
        try TemporaryProfiles.write([("default", "http://d.example", "d"), ("other", "http://o.example", "o")], folder)
        let home = ["XDG_CONFIG_HOME": folder.path]
        func target(
            _ url: String? = nil, profile: String? = nil, with variables: [String: String] = [:]
        ) async throws -> String {
            let environment = home.merging(variables) { $1 }
            let target = try GatewayTarget(url: url, tokenCommand: nil, profile: profile, environment)
            return "\(target.address.url) \(try await target.credential.current())"
        }
        #expect(try await target() == "http://d.example d")
        #expect(try await target(profile: "other") == "http://o.example o")
        #expect(try await target(with: ["PARLEY_PROFILE": "other"]) == "http://o.example o")
        #expect(
            try await target(profile: "other", with: ["PARLEY_URL": "http://e", "PARLEY_KEY": "k"])
                == "http://o.example o")
        #expect(try await target(with: ["PARLEY_URL": "http://e", "PARLEY_KEY": "k"]) == "http://e k")
        #expect(try await target(with: ["PARLEY_KEY": "k"]) == "http://127.0.0.1:8080 k")
        #expect(try await target(with: ["PARLEY_PROFILE": "other", "PARLEY_KEY": "k"]) == "http://o.example o")
        #expect(try await target("http://d.example") == "http://d.example d")
        #expect(try await target("http://localhost:1") == "http://localhost:1 dev")
        await #expect(throws: CommandFailure.self) { try await target("http://e.example") }
        await #expect(throws: CommandFailure.self) { try await target("http://e.example", profile: "other") }
        await #expect(throws: CommandFailure.self) { try await target(with: ["PARLEY_PROFILE": "none"]) }
    }

    @Test("that others may read are refused")
    func readable() async throws {
        let folder = try TemporaryFolder()
        try TemporaryProfiles.write([("default", "http://d.example", "d")], folder)
        #expect(chmod("\(folder.path)/parley/profiles.json", 0o644) == 0)
        let run = try await parley("profiles", environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(run.code == 1 && run.errors.contains("chmod 600"), "\(run.errors)")
    }
}

private enum TemporaryProfiles {
    static func write(_ profiles: [(name: String, url: String, key: String)], _ folder: TemporaryFolder) throws {
        let store = try ProfileStore(["XDG_CONFIG_HOME": folder.path])
        for (name, url, key) in profiles {
            try store.save(Profile(name: name, address: try ServerAddress(url), key: key))
        }
    }
}
