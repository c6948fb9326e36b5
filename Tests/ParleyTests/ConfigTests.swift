import JSON
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("config") struct ConfigTests {
    @Test("prints every setting with its origin, secrets covered")
    func printing() async throws {
        let run = try await parley(
            "config", "print", "--listen", "127.0.0.1:9000", "--set", "admin_key=parley_very_secret", "--json")
        #expect(run.code == 0)
        let rows = try run.lines.map { try JSONDocument(Array($0.utf8)).root }
        func row(_ name: String) -> JSONValue? { rows.first { $0["name"]?.string == name } }
        #expect(row("listen")?["value"]?.string == "127.0.0.1:9000")
        #expect(row("listen")?["default"]?.string == "127.0.0.1:8080")
        #expect(row("listen")?["origin"]?.string == "flag")
        #expect(row("data")?["origin"]?.string == "default")
        #expect(row("data")?["environment"]?.string == "PARLEY_DATA")
        #expect(!run.output.contains("very_secret"))
        let table = try await parley("config", "print")
        #expect(table.lines.count == rows.count + 1)
        #expect(table.lines[0].hasPrefix("SETTING"))
    }

    @Test(
        "distinguishes wrong flags from wrong settings",
        arguments: [
            (["--listen", "nonsense"], 2, "HOST:PORT"),
            (["--set", "limit.data_bytes=1"], 2, "did you mean 'limits.data_bytes'"),
            (["--dev", "--listen", "0.0.0.0:80"], 2, "127.0.0.1"),
            (["--set", "webhook.allow=everything"], 2, "webhook.allow"), (["--set", "demo_keys=a:b"], 2, "demo_keys"),
            (["--set", "admin_key=x"], 2, "at least 16"),
            (["--set", "dev"], 2, "NAME=VALUE"),
            (["--config", "/nonexistent/parley.yaml"], 1, "/nonexistent/parley.yaml"),
            // A file without settings.
            (["--config", "/etc/hostname"], 1, "/etc/hostname"),
        ])
    func faults(_ flags: [String], _ code: Int32, _ hint: String) async throws {
        for command in [["config", "check"], ["config", "print"]] {
            let run = try await parley(command + flags)
            #expect(run.code == code)
            #expect(run.errors.contains(hint), "\(run.errors)")
        }
    }

    @Test("prints what was set, and what a reload of another file would change")
    func difference() async throws {
        let files = try SchemaFiles([
            "old.yaml": "limits: {page_most: 100}\n", "new.yaml": "limits: {page_most: 200}\nconnections: 5\n",
        ])
        let set = try await parley("config", "diff", "--config", files["old.yaml"], "--json")
        #expect(
            set.lines == [
                #"{"name":"limits.page_most","before":"250","after":"100","origin":"file","by":"reload"}"#
            ])
        let change = try await parley("config", "diff", "--config", files["old.yaml"], "--against", files["new.yaml"])
        #expect(change.lines[0].hasPrefix("SETTING"))
        let rows = change.lines.dropFirst().map { $0.split(separator: " ").map(String.init) }
        #expect(
            rows == [
                ["connections", "10000", "5", "file", "restart"], ["limits.page_most", "100", "200", "file", "reload"],
            ])
        #expect(try await parley("config", "diff").lines == ["no differences"])
        #expect(try await parley("config", "diff", "--against", files["none.yaml"]).code == 1)
    }

    @Test("names variables that are no settings where settings are compared or printed", arguments: ["diff", "print"])
    func unknownVariable(_ command: String) async throws {
        let run = try await parley("config", command, environment: ["PARLEY_LISTN": "127.0.0.1:1"])
        #expect(run.code == 0)
        #expect(run.errors == "warning: PARLEY_LISTN is not a setting; did you mean 'PARLEY_LISTEN'?\n")
    }

    @Test(
        "says where the gateway is reached on its machine",
        arguments: [
            ([], "http://127.0.0.1:8080"), (["--listen", "0.0.0.0:81"], "http://127.0.0.1:81"),
            (["--listen", "[::]:81"], "http://[::1]:81"), (["--listen", "[fd00::1]:81"], "http://[fd00::1]:81"),
            (
                ["--listen", ":443", "--set", "tls.certificate=/c.pem", "--set", "tls.key=/k.pem"],
                "https://127.0.0.1:443"
            ),
        ])
    func url(_ flags: [String], _ url: String) async throws {
        #expect(try await parley(["config", "url"] + flags).lines == [url])
        #expect(try await parley(["config", "url"] + flags + ["--listen", "localhost:0"]).code == 1)
    }

    @Test("is checked, for programs too")
    func check() async throws {
        let good = try await parley("config", "check", "--dev")
        #expect(good.code == 0)
        #expect(good.output.hasPrefix("ok: 1 of "))
        #expect(
            try await parley("config", "check", "--json").output == #"{"valid":true,"error":null,"warnings":[]}"# + "\n"
        )
        let bad = try await parley("config", "check", "--json", "--listen", "x")
        #expect(bad.code == 2)
        #expect(bad.output.hasPrefix(#"{"valid":false,"error":"listen must be"#))
    }
}
