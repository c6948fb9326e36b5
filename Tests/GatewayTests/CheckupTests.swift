import ChatModel
import ChatSupport
import FoundationEssentials
import Glibc
import JSON
import SQLiteEngine
import Signing
import Testing

@testable import Gateway

@Suite("A checkup") struct CheckupTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "parley-checkup-\(UUID().uuidString)")

    private var data: String { folder.appendingPathComponent("data").path }
    private var database: String { data + "/parley.db" }

    /// Runs `body` with a data directory in the state in which a gateway leaves it.
    private func withData(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(
                path: try DataDirectory(at: data).database, limits: Limits(), clock: .system, logger: ChatFixture.quiet)
        )
        let drafts = (0..<200).map { number in
            EventDraft(
                channel: ChannelID("room", in: AppID("app")), type: "t",
                data: JSONText(string: "\(number)" + String(repeating: "x", count: 500)))
        }
        _ = try await engine.log.append(drafts, claim: nil)
        await engine.close()
        try await body()
    }

    private func findings(
        _ change: (inout Configuration) -> Void = { _ in }, clock: WallClock = .system
    ) -> [CheckResult] {
        var configuration = Configuration()
        configuration.dataDirectory = data
        change(&configuration)
        return Diagnostics(of: configuration, clock: clock).results()
    }

    private func finding(_ check: String, clock: WallClock = .system) -> CheckResult? {
        findings(clock: clock).first { $0.check == check }
    }

    @Test("reports a missing key of stored secrets")
    func missingKey() async throws {
        try await withData {
            let engine = try await SQLiteEngine(
                SQLiteEngineSettings(path: database, limits: Limits(), clock: .system, logger: ChatFixture.quiet))
            let vault = try Vault(keys: Self.key)
            let secret = vault.seal("s3cret", context: "app/a")
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("secret_key", secret)
                writer.endObject()
            }
            let app = RecordKey(.app, "a", in: AppID("a"))
            _ = try await engine.directory.write([RecordChange(app, body: body)])
            await engine.close()
            let missing = try #require(finding("secrets"))
            #expect(missing.status == .failure && missing.text.contains("is not configured"))
            let found = findings { $0.secretsKey = Self.key }.first { $0.check == "secrets" }
            #expect(found?.status == .ok)
            let broken = findings { $0.secretsKeyFile = "/nonexistent" }.first { $0.check == "secrets" }
            #expect(broken?.status == .failure)
        }
    }

    private static let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

    @Test("finds no problem in a good directory")
    func well() async throws {
        try await withData {
            let findings = findings {
                $0.limits.streamsInGateway = 1; $0.connections = 1
            }
            let bad = findings.filter { $0.status != .ok && $0.check != "filesystem" && $0.check != "disk" }
            #expect(bad.isEmpty, "\(bad)")
            #expect(
                Set(findings.map(\.check)).isSuperset(of: [
                    "version", "libraries", "descriptors", "data", "disk", "filesystem", "schema", "integrity", "clock",
                    "secrets", "deliveries", "webhooks", "dead_letters",
                ]))
        }
    }

    @Test("reports a missing directory, and stops there")
    func missing() throws {
        let findings = findings()
        #expect(findings.last?.check == "data" && findings.last?.status == .warning)
        #expect(!FileManager.default.fileExists(atPath: data))
    }

    @Test("reports which accounts may read the data")
    func rights() async throws {
        try await withData {
            chmod(database, 0o644)
            #expect(finding("data")?.advice?.contains("chmod 600") == true)
            chmod(data, 0o755)
            #expect(finding("data")?.advice?.contains("chmod 700") == true)
        }
    }

    @Test("reports a leftover key file, and an unfinished restore")
    func leftovers() async throws {
        try await withData {
            try AdminKeyFile(in: data).draft("parley_key").keep()
            #expect(finding("admin_key")?.status == .warning)
            try Data().write(to: URL(filePath: data + "/" + DataDirectory.unfinishedName))
            #expect(finding("restore")?.status == .failure)
        }
    }

    @Test("reports a damaged database, one of a newer program, and a file that is no database")
    func databases() async throws {
        try await withData {
            let whole = try Data(contentsOf: URL(filePath: database))
            var damaged = whole
            for index in (whole.count / 2)..<(whole.count / 2 + 8192) { damaged[index] = 0x55 }
            try damaged.write(to: URL(filePath: database))
            let failures = findings().filter { $0.status == .failure }
            #expect(failures.contains { $0.check == "integrity" || $0.check == "database" })

            // The header's user version (sqlite.org/fileformat.html, 1.3).
            var newer = whole
            newer.replaceSubrange(60..<64, with: [0, 0, 0, 99])
            try newer.write(to: URL(filePath: database))
            #expect(finding("schema")?.status == .failure)

            try Data("no database, but long enough to look like one".utf8).write(to: URL(filePath: database))
            #expect(finding("database")?.status == .failure)
        }
    }

    @Test("reports a clock that was set back")
    func clock() async throws {
        try await withData {
            #expect(finding("clock")?.status == .ok)
            let early = Timetoken(WallClock.system.now.rawValue - 3600 * Timetoken.ticksPerSecond)
            let finding = finding("clock", clock: WallClock { early })
            #expect(finding?.status == .warning && finding?.text.contains("s ahead of the clock") == true)
        }
    }

    @Test(
        "compares versions as numbers",
        arguments: [("3.40.1", "3.51.3"), ("2.9", "2.14"), ("0.9.75", "1.0"), ("1", "1.0.1")])
    func versions(_ old: String, _ new: String) {
        #expect(LibraryCheck.isOlder(old, than: new))
        #expect(!LibraryCheck.isOlder(new, than: old))
        #expect(!LibraryCheck.isOlder(new, than: new))
    }

    @Test(
        "finds a path's file system in the mount table",
        arguments: [
            ("/", "ext4"), ("/srv", "ext4"), ("/srv/data", "nfs4"), ("/srv/data/parley", "nfs4"),
            ("/srv/database", "ext4"),
            ("/srv/two words/x", "tmpfs"), ("/over", "xfs"),
        ])
    func mounts(_ path: String, _ kind: String) {
        let table = MountTable(
            #"""
            20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            30 20 0:40 / /srv/data rw,relatime shared:7 master:2 - nfs4 host:/data rw
            31 20 0:41 / /srv/two\040words rw - tmpfs tmpfs rw
            32 20 0:42 / /over rw - nfs host:/x rw
            33 20 8:2 / /over rw - xfs /dev/sdb rw
            nonsense
            """#)
        #expect(table.kind(of: path) == kind)
    }

    @Test("reads a certificate's expiry date")
    func certificates() async throws {
        try await withData {
            let (certificate, key) = (folder.path + "/cert.pem", folder.path + "/key.pem")
            try Data(Self.pem.utf8).write(to: URL(filePath: certificate))
            try Data("key".utf8).write(to: URL(filePath: key))
            func finding(_ day: String) throws -> CheckResult? {
                let now = try #require(Timestamp.read("\(day)T00:00:00Z"))
                return findings(
                    {
                        $0.tlsCertificate = certificate; $0.tlsKey = key
                    }, clock: WallClock { now }
                ).first {
                    $0.check == "certificate"
                }
            }
            #expect(try finding("2026-01-01")?.text.contains("2030-01-02") == true)
            #expect(try finding("2026-01-01")?.status == .ok)
            #expect(try finding("2029-12-25")?.status == .warning)
            #expect(try finding("2030-01-03")?.status == .failure)
            try Data("nothing".utf8).write(to: URL(filePath: certificate))
            #expect(try finding("2026-01-01")?.status == .failure)
        }
    }

    /// A certificate for chat.example that is valid until 2030-01-02 03:04:05.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIHtMIGgoAMCAQICFDN/aJKh58Ygc5GJueZ6ds3P9KnQMAUGAytlcDAXMRUwEwYD
        VQQDDAxjaGF0LmV4YW1wbGUwHhcNMjUwMTAxMDAwMDAwWhcNMzAwMTAyMDMwNDA1
        WjAXMRUwEwYDVQQDDAxjaGF0LmV4YW1wbGUwKjAFBgMrZXADIQBA27SYDGW2Ym64
        SofJVxC0UoIobJOcmk+5EjWamHXItDAFBgMrZXADQQCT4sAaRDrU7z5srBZGTSLp
        MplblGW0RPpo331XXeK2ry9SXQz+8HCnqOm21na6baVwy4jx3jz6cTRwNGbbqm4A
        -----END CERTIFICATE-----
        """
}
