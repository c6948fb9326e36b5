import ChatModel
import ClusterEngine
import FoundationEssentials
import Signing
import Testing

@testable import Gateway

@Suite("The configuration") struct ConfigurationTests {
    func load(
        _ yaml: String? = nil, environment: [String: String] = [:], flags: [(name: String, value: String)] = []
    ) throws(SettingError) -> LoadedConfiguration {
        try ConfigurationLoader.load(
            file: yaml.map { ("parley.yaml", $0) }, environment: environment, flags: flags)
    }

    func refusal(
        _ yaml: String? = nil, environment: [String: String] = [:], flags: [(name: String, value: String)] = []
    ) -> String {
        do {
            _ = try load(yaml, environment: environment, flags: flags)
            return ""
        } catch { return error.description }
    }

    @Test("prefers flags to environment to file to defaults, and remembers each origin")
    func precedence() throws {
        let loaded = try load(
            "listen: 127.0.0.1:1\ndata: from-file\nlimits:\n  data_bytes: 100\n",
            environment: ["PARLEY_LISTEN": "127.0.0.1:2", "PARLEY_LIMITS_DATA_BYTES": "200"],
            flags: [("listen", "127.0.0.1:3")])
        #expect(loaded.configuration.listenPort == 3)
        #expect(loaded.configuration.limits.dataBytes == 200)
        #expect(loaded.configuration.dataDirectory == "from-file")
        #expect(loaded.configuration.limits.metaBytes == 8192)
        let origins = try ["listen", "limits.data_bytes", "data", "limits.meta_bytes"].map {
            loaded.origin(of: try #require(Settings.named($0)))
        }
        #expect(origins == [.flag, .environment, .file, .default])
    }

    @Test("reads lists from YAML and from text alike")
    func lists() throws {
        #expect(
            try load("webhook:\n  allow: [10.0.0.0/8, fd00::/8]").configuration.webhookAllow == [
                "10.0.0.0/8", "fd00::/8",
            ])
        #expect(
            try load(environment: ["PARLEY_WEBHOOK_ALLOW": "10.0.0.0/8, fd00::/8"]).configuration.webhookAllow
                == ["10.0.0.0/8", "fd00::/8"])
    }

    @Test("suggests the nearest name for an unknown one")
    func suggestions() {
        #expect(refusal("lisen: 127.0.0.1:1").contains("did you mean 'listen'?"))
        #expect(refusal("limits:\n  data_byte: 1").contains("did you mean 'limits.data_bytes'?"))
        #expect(refusal(flags: [("dta", "x")]).contains("did you mean 'data'?"))
    }

    @Test("reports the place of a wrong name or value in the file")
    func places() {
        #expect(refusal("data: a\nlisen: 127.0.0.1:1").contains(":2:1: 'lisen' is not a setting"))
        #expect(refusal("limits:\n  page_most: many").contains(":2:3: "))
        #expect(refusal("limits:\n  page_most: [1, [2]]").contains(":2:14: "))
        #expect(refusal("limits:\n  page_most: 1\n  page_most: 2").contains(":3:3: duplicate key 'page_most'"))
        #expect(
            refusal("limits.page_most: 1\nlimits:\n  page_most: 2").contains(
                ":3:3: the setting 'limits.page_most' occurs twice"))
    }

    @Test("ignores variables of a Kubernetes service with its name, and those of the client commands")
    func serviceVariables() throws {
        let loaded = try load(environment: [
            "PARLEY_PORT": "tcp://10.0.0.1:8080", "PARLEY_SERVICE_HOST": "10.0.0.1", "PARLEY_SERVICE_PORT": "8080",
            "PARLEY_SERVICE_PORT_HTTP": "8080", "PARLEY_PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "PARLEY_PORT_8080_TCP_PROTO": "tcp", "PARLEY_PORT_8080_TCP_PORT": "8080",
            "PARLEY_PORT_8080_TCP_ADDR": "10.0.0.1", "PARLEY_URL": "http://x", "PARLEY_KEY": "k", "HOME": "/",
        ])
        #expect(loaded.unknownVariables == [])
        #expect(loaded.configuration.listenPort == 8080)
    }

    @Test(
        "names a variable that is not a setting, with the nearest one",
        arguments: [
            ("PARLEY_LISTN", "PARLEY_LISTEN"), ("PARLEY_LIMITS__PAGE_MOST", "PARLEY_LIMITS_PAGE_MOST"),
            ("PARLEY_TOKEN_COMAND", "PARLEY_TOKEN_COMMAND"),
        ])
    func unknownVariables(_ name: String, _ nearest: String) throws {
        let loaded = try load(environment: [name: "8080"])
        #expect(loaded.unknownVariables == ["\(name) is not a setting; did you mean '\(nearest)'?"])
    }

    @Test(
        "suggests no name for an unrelated word",
        arguments: ["limits.foo", "limits.abc", "frobnicate", "webhook.x"])
    func unlike(_ name: String) throws {
        let text = refusal(flags: [(name, "2")])
        #expect(text.contains("'\(name)' is not a setting") && !text.contains("did you mean"), "\(text)")
        let variable = "PARLEY_" + name.uppercased().replacing(".", with: "_")
        #expect(try load(environment: [variable: "2"]).unknownVariables == ["\(variable) is not a setting"])
    }

    @Test("takes a port for a Kubernetes address only where it is one")
    func port() throws {
        #expect(try load(environment: ["PARLEY_PORT": "9000"]).unknownVariables.count == 1)
    }

    @Test(
        "refuses values out of range with an explanation",
        arguments: [
            ("limits.data_bytes", "0"), ("limits.data_bytes", "many"), ("listen", "8080"),
            ("listen", "127.0.0.1:70000"),
            ("dev", "perhaps"), ("log_level", "loud"), ("public_url", "example.com"),
        ])
    func ranges(_ name: String, _ value: String) {
        #expect(refusal(flags: [(name, value)]).contains(name))
    }

    @Test("refuses a file that is no YAML or no settings", arguments: ["a: [1", "just text", "limits: 5", "- a"])
    func brokenFiles(_ text: String) { #expect(!refusal(text).isEmpty) }

    @Test("allows dev mode on a loopback address only")
    func devMode() throws {
        _ = try load(flags: [("dev", "true"), ("listen", "[::1]:0")])
        #expect(refusal(flags: [("dev", "true"), ("listen", "0.0.0.0:8080")]).contains("listen on 127.0.0.1"))
    }

    @Test("requires certificate and key together")
    func tls() { #expect(refusal(flags: [("tls.key", "key.pem")]).contains("tls.certificate")) }

    @Test(
        "refuses settings with which the gateway could not start",
        arguments: [
            ("webhook.allow", "10.0.0.0/8,everything"), ("webhook.allow", "10.0.0.0/33"), ("demo_keys", "only:two"),
            ("demo_keys", "a::c"), ("trusted_proxies", "10.0.0.1,proxy"), ("tls.hsts_seconds", "60"),
        ])
    func useless(_ name: String, _ value: String) {
        #expect(refusal(flags: [(name, value)]).contains(name))
        #expect(refusal(flags: [(name, value), ("dev", "true")]).contains(name))
    }

    @Test("refuses an admin key that can be guessed or not be sent, except in dev mode, which has its own")
    func adminKeys() throws {
        for key in ["x", "fifteen-letters", "sixteen letters!", "sechzehn-zeichen-ä"] {
            #expect(refusal(environment: ["PARLEY_ADMIN_KEY": key]).contains("at least 16"), "\(key)")
            _ = try load(environment: ["PARLEY_ADMIN_KEY": key], flags: [("dev", "true")])
        }
        #expect(try load(flags: [("admin_key", "sixteen-letters!")]).configuration.adminKey == "sixteen-letters!")
    }

    @Test("shows no secret")
    func secrets() throws {
        let loaded = try load(environment: ["PARLEY_ADMIN_KEY": "hush-hush-hush-hush"])
        let setting = try #require(Settings.named("admin_key"))
        #expect(setting.text(in: loaded.configuration) == "••••")
        #expect(loaded.configuration.adminKey == "hush-hush-hush-hush")
    }

    private static let sealingKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test("takes encryption keys from a variable or from a file, and shows none")
    func sealingKeys() throws {
        let loaded = try load(environment: ["PARLEY_SECRETS_KEY": Self.sealingKey])
        #expect(try loaded.configuration.vault().seals)
        #expect(try #require(Settings.named("secrets_key")).text(in: loaded.configuration) == "••••")
        #expect(try !load().configuration.vault().seals)
        try withFile("\(Self.sealingKey)\n") { path in
            let filed = try load("secrets_key_file: \(path)")
            let text = try loaded.configuration.vault().seal("hush", context: "x")
            #expect(try filed.configuration.vault().openText(text, context: "x") == "hush")
            #expect(
                refusal("secrets_key_file: \(path)", environment: ["PARLEY_SECRETS_KEY": Self.sealingKey])
                    .contains("must not both be set"))
        }
    }

    @Test("refuses unusable encryption keys, without repeating them")
    func uselessSealingKeys() throws {
        for text in ["c2hvcnQ=", "not base64!", "\(Self.sealingKey),c2hvcnQ="] {
            let words = refusal(environment: ["PARLEY_SECRETS_KEY": text])
            #expect(words.contains("secrets_key") && words.contains("32 bytes"))
            #expect(!words.contains("c2hvcnQ") && !words.contains(Self.sealingKey) && !words.contains("not base64"))
        }
        #expect(refusal("secrets_key_file: /no/such/file").contains("/no/such/file"))
        try withFile("\n") { path in #expect(refusal("secrets_key_file: \(path)").contains("32 bytes")) }
    }

    private static let database = "postgres://parley@db1,db2/parley"

    @Test("uses the data directory, or the database of a cluster from a flag, a variable or a file")
    func stores() throws {
        #expect(try load().configuration.store() == .directory("parley-data"))
        let flags = [(name: "engine", value: Self.database), (name: "bus", value: "nats://n1,tls://n2:4223")]
        let cluster = GatewayStore.cluster(
            url: Self.database, bus: BusSettings(servers: ["nats://n1", "tls://n2:4223"]))
        #expect(try load(flags: flags).configuration.store() == cluster)
        let secret = "postgres://parley:hush@db1/parley"
        let loaded = try load(environment: ["PARLEY_ENGINE": secret])
        #expect(try loaded.configuration.store() == .cluster(url: secret, bus: nil))
        #expect(try #require(Settings.named("engine")).text(in: loaded.configuration) == "••••")
        try withFile("\(secret)\n") { path in
            let store = try load("engine_file: \(path)").configuration.store()
            #expect(store == .cluster(url: secret, bus: nil))
        }
    }

    @Test(
        "refuses a password in an argument, which every account of the machine can read",
        arguments: ["postgres://parley:hush@db1/parley", "postgresql://db1/parley?user=parley&password=hush"])
    func passwords(_ url: String) {
        let text = refusal(flags: [("engine", url)])
        #expect(text.contains("PARLEY_ENGINE") && !text.contains("hush"), "\(text)")
    }

    @Test("refuses settings of a cluster that contradict each other, without repeating a password")
    func uselessStores() throws {
        let wrong = refusal(environment: ["PARLEY_ENGINE": "mysql://parley:hush@db1/parley"])
        #expect(wrong.contains("engine must be the URL of a PostgreSQL database") && !wrong.contains("hush"))
        #expect(refusal(flags: [("bus", "nats://n1")]).contains("set engine"))
        #expect(refusal(flags: [("engine", Self.database), ("bus", "n1:4222")]).contains("nats://"))
        let credentials = refusal(flags: [("engine", Self.database), ("bus", "nats://parley:hush@n1")])
        #expect(credentials.contains("must not contain credentials") && !credentials.contains("hush"))
        try withFile("\n") { path in #expect(refusal("engine_file: \(path)").contains("is empty")) }
        try withFile(Self.database) { path in
            #expect(refusal("engine: \(Self.database)\nengine_file: \(path)").contains("must not both be set"))
        }
    }

    @Test("passes the files of the bus to the cluster, and refuses some of them alone")
    func busFiles() throws {
        let files = """
            engine: \(Self.database)
            bus: [tls://n1]
            bus_credentials_file: /b/creds
            bus_authorities_file: /b/ca.pem
            bus_certificate_file: /b/node.pem
            """
        var bus = BusSettings(servers: ["tls://n1"])
        bus.credentialsFile = "/b/creds"
        bus.authoritiesFile = "/b/ca.pem"
        bus.certificateFile = "/b/node.pem"
        bus.keyFile = "/b/node.key"
        let store = try load("\(files)\nbus_key_file: /b/node.key").configuration.store()
        #expect(store == .cluster(url: Self.database, bus: bus))
        #expect(refusal(files).contains("must be set together"))
        #expect(refusal("engine: \(Self.database)\nbus_key_file: /b/node.key").contains("set bus"))
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("parley-key-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file, atomically: true, encoding: .utf8)
        try body(file.path)
    }

    @Test("reads back every default as it shows it")
    func roundTrip() throws {
        let standard = Configuration()
        for setting in Settings.all {
            var copy = standard
            try setting.read(&copy, setting.show(standard))
            #expect(setting.show(copy) == setting.show(standard), "\(setting.name)")
        }
        #expect(Set(Settings.all.map(\.name)).count == Settings.all.count)
    }
}
