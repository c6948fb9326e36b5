import FoundationEssentials
import JSON
import Testing

@testable import ClientCommands
@testable import ParleyCommands

private let order = #"{"type":"object","required":["id"],"properties":{"id":{"type":"integer","minimum":1}}}"#

@Suite("schema") struct SchemaCommandTests {
    @Test(
        "answers wrong usage and files that are not there with 1",
        arguments: [
            (["valdate"], "did you mean 'parley schema validate'?"), (["check"], "--schema"),
            (["check", "--schema", "/nonexistent.json"], "/nonexistent.json"),
            (["check", "--schema", "/dev/null", "--dialect", "03"], "'2020-12'"),
            (["check", "--schema", "/dev/null", "--remotes", "/nonexistent"], "/nonexistent"),
            (["validate", "--schema", "/dev/null", "--instances", "/dev/null", "--output", "xml"], "'basic'"),
            (["bench", "--schema", "/dev/null", "--instances", "/dev/null"], "no documents"),
            (["bench", "--schema", "a", "--instances", "b", "--sample-ms", "0"], "--sample-ms"),
            (["bench", "--schema", "a", "--instances", "b", "--json-access", "fast"], "'layout'"),
            (["suite", "--tests", "/nonexistent"], "/nonexistent"),
            (["compat", "--old", "a", "--new", "b", "--mode", "sideways"], "'backward'"),
            (["infer", "--instances", "/dev/null"], "no documents"),
            (["infer", "--instances", "a", "--enum-limit", "-1"], "--enum-limit"),
        ])
    func usage(_ arguments: [String], _ hint: String) async throws {
        let run = try await parley(["schema"] + arguments)
        #expect(run.code == 1)
        #expect(run.errors.contains(hint), "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test(
        "answers a refused schema with 2, whatever was asked",
        arguments: [
            ["check", "--schema", "S"], ["validate", "--schema", "S", "--instances", "D"],
            ["bench", "--schema", "S", "--instances", "D"], ["compat", "--old", "G", "--new", "S"],
            ["compat", "--old", "S", "--new", "G"],
        ],
        [
            (#"{"type":"strin"}"#, "#/type"),
            (#"{"$ref":"http://example.com/other.json"}"#, "http://example.com/other.json"),
            (#"{"properties":{"a":{"pattern":"("}}}"#, "#/properties/a/pattern"), ("{", "not JSON"),
        ])
    func refused(_ arguments: [String], _ schema: (text: String, hint: String)) async throws {
        let files = try SchemaFiles(["S": schema.text, "G": order, "D": "{}\n"])
        let named = arguments.map { $0.count == 1 ? files[$0] : $0 }
        let run = try await parley(["schema"] + named)
        #expect(run.code == 2)
        #expect(run.errors.contains(schema.hint), "\(run.errors)")
        let json = try await parley(["schema"] + named + ["--json"])
        #expect(json.code == 2)
        let problem = try JSONDocument(Array((json.output + json.errors).utf8)).root
        #expect(problem["errors"]?.count ?? 0 > 0 || problem["detail"]?.string?.contains("not JSON") == true)
    }

    @Test("checks a schema, with those it refers to")
    func check() async throws {
        let files = try SchemaFiles([
            "s.json": #"{"$ref":"http://example.com/shared/id.json"}"#, "shared/id.json": #"{"type":"integer"}"#,
            "d.jsonl": "1\n\"x\"\n",
        ])
        #expect(try await parley("schema", "check", "--schema", files["s.json"]).code == 2)
        let remotes = files["shared"] + "=http://example.com/shared/"
        let run = try await parley("schema", "check", "--schema", files["s.json"], "--remotes", remotes)
        #expect(run.code == 0)
        #expect(run.output.hasPrefix("ok: a schema of 2020-12"))
        let json = try await parley("schema", "check", "--schema", files["s.json"], "--remotes", remotes, "--json")
        let root = try JSONDocument(Array(json.output.utf8)).root
        #expect(root["valid"]?.boolean == true)
        #expect(root["errors"]?.count == 0)
        let validated = try await parley(
            "schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"], "--remotes", remotes,
            "--output", "flag", "--json")
        #expect(validated.lines == [#"{"line":1,"valid":true}"#, #"{"line":2,"valid":false}"#])
    }

    @Test("reads documents, or a schema, from the standard input")
    func standardInput() async throws {
        let files = try SchemaFiles(["s.json": order, "d.jsonl": "{\"id\":1}\n"])
        let documents = try await parley(
            "schema", "validate", "--schema", files["s.json"], "--instances", "-", "--json", "--output", "flag",
            input: "{\"id\":1}\n{}\n")
        #expect(documents.lines == [#"{"line":1,"valid":true}"#, #"{"line":2,"valid":false}"#])
        #expect(documents.code == 4)
        let schema = try await parley(
            "schema", "validate", "--schema", "-", "--instances", files["d.jsonl"], input: order)
        #expect(schema.code == 0)
        let nothing = try await parley("schema", "validate", "--schema", "-", "--instances", "-", input: order)
        #expect(nothing.code == 1)
        #expect(nothing.errors.contains("the standard input contains no documents"))
    }

    @Test("reads the given dialect unless the schema names another")
    func dialect() async throws {
        let files = try SchemaFiles([
            // Only draft-04 takes a boolean here.
            "s.json": #"{"minimum":1,"exclusiveMinimum":true}"#,
            "t.json": #"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
        ])
        for dialect in ["2020-12", "2019-09", "07", "06"] {
            #expect(try await parley("schema", "check", "--schema", files["s.json"], "--dialect", dialect).code == 2)
        }
        #expect(try await parley("schema", "check", "--schema", files["s.json"], "--dialect", "04").code == 0)
        let run = try await parley("schema", "check", "--schema", files["t.json"], "--dialect", "04", "--json")
        #expect(run.output.contains(#""dialect":"2020-12""#))
    }

    @Test("validates each line, and ends with 4 when one is invalid", arguments: ["auto", "public", "layout"])
    func validate(_ access: String) async throws {
        let files = try SchemaFiles(["s.json": order, "d.jsonl": "{\"id\":1}\n{\"id\":0}\n{}\n{\n"])
        let arguments = [
            "schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"], "--json-access", access,
        ]
        let people = try await parley(arguments)
        #expect(people.code == 4)
        #expect(people.lines.map { $0.prefix(8) }.prefix(3) == ["line 2: ", "line 3: ", "line 4: "])
        #expect(people.lines.last == "invalid: 1 of 4 documents are valid")
        let run = try await parley(arguments + ["--json"])
        #expect(run.code == 4)
        let lines = try run.lines.map { try JSONDocument(Array($0.utf8)).root }
        #expect(lines.map { $0["line"]?.integer } == [1, 2, 3, 4])
        #expect(lines.map { $0["valid"]?.boolean } == [true, false, false, false])
        #expect(lines[0]["errors"] == nil)
        #expect(lines[1]["errors"]?[0]?["pointer"]?.string == "#/id")
        #expect(lines[1]["errors"]?[0]?["keyword"]?.string == "minimum")
        #expect(lines[2]["errors"]?[0]?["keyword"]?.string == "required")
        #expect(lines[3]["errors"]?[0]?["detail"]?.string?.hasPrefix("not JSON") == true)
        try files.write("d.jsonl", "{\"id\":1}")
        #expect(try await parley(arguments).code == 0)
    }

    @Test("says errors in the standard's basic form when asked")
    func basic() async throws {
        let files = try SchemaFiles(["s.json": order, "d.jsonl": "{\"id\":\"x\"}\n"])
        let run = try await parley(
            "schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"], "--output", "basic",
            "--json")
        let error = try JSONDocument(Array(run.output.utf8)).root["errors"]?[0]
        #expect(error?["keywordLocation"]?.string == "/properties/id/type")
        #expect(error?["instanceLocation"]?.string == "/id")
        #expect(error?["absoluteKeywordLocation"]?.string?.hasSuffix("#/properties/id/type") == true)
        #expect(error?["error"]?.string?.isEmpty == false)
    }

    @Test("reads integers beyond 64 bits when asked, and formats as asked")
    func options() async throws {
        let files = try SchemaFiles([
            "s.json": #"{"minimum":0,"format":"date"}"#, "d.jsonl": "123456789012345678901234567890\n\"yesterday\"\n",
        ])
        func verdicts(_ options: String...) async throws -> [Bool?] {
            try await parley(
                ["schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"], "--json"] + options
            ).lines.map { try JSONDocument(Array($0.utf8)).root["valid"]?.boolean }
        }
        #expect(try await verdicts() == [false, false])
        #expect(try await verdicts("--numbers", "lenient") == [true, false])
        #expect(try await verdicts("--formats", "annotate") == [false, true])
    }
}

@Suite("schema suite") struct SchemaSuiteCommandTests {
    private static func file(_ schema: String, _ data: String, _ isValid: Bool) -> String {
        #"[{"description":"c","schema":\#(schema),"tests":[{"description":"t","data":\#(data),"valid":\#(isValid)}]}]"#
    }

    @Test("runs the files of a folder and the folders in it")
    func folder() async throws {
        let files = try SchemaFiles([
            "tests/type.json": Self.file(#"{"type":"integer"}"#, "1", true),
            "tests/ref.json": Self.file(#"{"$ref":"http://localhost:1234/id.json"}"#, "\"x\"", false),
            // The format is an annotation in one dialect and an assertion in the other.
            "tests/format.json": Self.file(#"{"format":"date"}"#, "\"x\"", true),
            "tests/optional/format/date.json": Self.file(#"{"format":"date"}"#, "\"x\"", false),
            "tests/optional/bignum.json": Self.file(#"{"type":"integer"}"#, "12345678901234567890123", true),
            "remotes/id.json": #"{"type":"integer"}"#,
        ])
        let arguments = [
            "schema", "suite", "--tests", files["tests"], "--remotes", files["remotes"], "--dialect", "07",
        ]
        let run = try await parley(arguments + ["--json"])
        #expect(run.code == 0, "\(run.output)")
        #expect(run.output == #"{"files":5,"cases":5,"tests":5,"passed":5,"failures":[]}"# + "\n")
        #expect(try await parley(arguments).output == "ok: 5 of 5 tests in 5 cases of 5 files\n")
        let asserted = try await parley(arguments + ["--json", "--formats", "assert"])
        #expect(asserted.code == 4)
        let failure = try JSONDocument(Array(asserted.output.utf8)).root["failures"]?[0]
        #expect(failure?["file"]?.string == "format.json")
        #expect(failure?["case"]?.string == "c")
        #expect(failure?["test"]?.string == "t")
        #expect(failure?["expected"]?.string == "valid")
        #expect(failure?["got"]?.string == "invalid")
    }

    @Test("distinguishes invalid schemas and files of another kind from wrong verdicts")
    func sorts() async throws {
        let files = try SchemaFiles([
            "t/a.json": Self.file(#"{"type":"integ"}"#, "1", true), "t/b.json": #"{"not":"tests"}"#,
            "t/c.json": Self.file("true", "1", false),
        ])
        let run = try await parley("schema", "suite", "--tests", files["t"], "--json")
        #expect(run.code == 4)
        let failures = try JSONDocument(Array(run.output.utf8)).root["failures"]?.elements ?? []
        #expect(failures.map { $0["sort"]?.string } == ["schemaRefused", "file", "verdict"])
    }
}

@Suite("schema compat") struct SchemaCompatCommandTests {
    @Test(
        "answers by its exit code",
        arguments: [
            (#"{"type":"integer"}"#, #"{"type":"number"}"#, "backward", "yes", 0),
            (#"{"type":"integer"}"#, #"{"type":"number"}"#, "forward", "no", 5),
            (#"{"type":"integer"}"#, #"{"type":"number"}"#, "full", "no", 5),
            (#"{"pattern":"^(a|b)*c"}"#, #"{"pattern":"^(b|a)*c"}"#, "backward", "unknown", 6),
        ])
    func verdicts(_ old: String, _ new: String, _ mode: String, _ verdict: String, _ code: Int32) async throws {
        let files = try SchemaFiles(["old": old, "new": new])
        let arguments = ["schema", "compat", "--old", files["old"], "--new", files["new"], "--mode", mode]
        let people = try await parley(arguments)
        #expect(people.code == code)
        #expect(people.output.hasPrefix(verdict))
        let run = try await parley(arguments + ["--json"])
        #expect(run.code == code)
        let root = try JSONDocument(Array(run.output.utf8)).root
        #expect(root["verdict"]?.string == verdict)
        #expect(root["changes"]?.elements != nil)
        #expect(root["witness"]?.isNull == (verdict != "no"))
    }

    @Test("names the place that breaks, and a document that shows it")
    func places() async throws {
        let files = try SchemaFiles([
            "old": #"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
            "new": #"{"type":"object","properties":{"a":{"type":"integer","minimum":3}}}"#,
        ])
        let run = try await parley("schema", "compat", "--old", files["old"], "--new", files["new"], "--json")
        let root = try JSONDocument(Array(run.output.utf8)).root
        #expect(root["changes"]?[0]?["pointer"]?.string == "#/properties/a/minimum")
        #expect(root["changes"]?[0]?["breaks"]?.strings == ["backward"])
        #expect(try #require(root["witness"]?["a"]?.integer) < 3)
    }
}

@Suite("schema infer") struct SchemaInferCommandTests {
    @Test("drafts a schema that accepts what it was made from")
    func draft() async throws {
        let files = try SchemaFiles(["d.jsonl": "{\"id\":1,\"a\":\"x\"}\n{\"id\":2}\n"])
        let run = try await parley("schema", "infer", "--instances", files["d.jsonl"], "--closed")
        #expect(run.code == 0)
        try files.write("s.json", run.output)
        #expect(
            try await parley("schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"]).code
                == 0)
        try files.write("d.jsonl", "{\"id\":1,\"b\":1}\n")
        #expect(
            try await parley("schema", "validate", "--schema", files["s.json"], "--instances", files["d.jsonl"]).code
                == 4)
        try files.write("d.jsonl", "{\n")
        #expect(try await parley("schema", "infer", "--instances", files["d.jsonl"]).code == 1)
    }
}

@Suite("schema bench") struct SchemaBenchCommandTests {
    @Test("prints what the comparison reads", arguments: ["public", "layout"])
    func figures(_ access: String) async throws {
        let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        let lines = ["{\"id\":1}", "{\"id\":0}", "{", "12345678901234567890123", deep, "{\"id\":2}"]
        let files = try SchemaFiles(["s.json": order, "d.jsonl": lines.map { $0 + "\n" }.joined()])
        let arguments = [
            "schema", "bench", "--schema", files["s.json"], "--instances", files["d.jsonl"], "--sample-ms", "0.05",
            "--repeat", "3", "--json-access", access,
        ]
        let run = try await parley(arguments + ["--json"])
        #expect(run.code == 0)
        #expect(run.lines.count == 1)
        let root = try JSONDocument(Array(run.output.utf8)).root
        #expect(root["verdicts"]?.string == "10ppb1")
        #expect(root["documents"]?.integer == 6)
        #expect(root["valid"]?.integer == 2)
        #expect(root["invalid"]?.integer == 1)
        #expect(root["bytes"]?.integer == Int64(lines.map(\.utf8.count).reduce(0, +)))
        #expect(root["dialect"]?.string == "2020-12")
        #expect(root["formats"]?.string == "annotate")
        #expect(root["samples"]?.integer == 3)
        #expect(root["json_access"]?.string == access)
        for name in ["parse", "validate", "parse_validate"] {
            let median = try #require(root[name]?["median_ns"]?.double)
            let least = try #require(root[name]?["min_ns"]?.double)
            #expect(least > 0 && least <= median)
        }
        for name in ["iterations", "compile_us", "plan_instructions", "plan_bytes"] {
            #expect(root[name]?.integer ?? 0 > 0, "\(name)")
        }
        #expect(root["allocations_per_document"]?.double == 0)
        #expect(try await parley(arguments).output.contains("6, 2 valid"))
    }
}

@Suite("Counted allocations") struct AllocationCountTests {
    @Test("are the calls of malloc and its like")
    func counted() {
        var kept: [[Int]] = []
        #expect(AllocationCount.during {} == 0)
        let count = AllocationCount.during {
            for length in 1...10 { kept.append(Array(repeating: length, count: length)) }
        }
        // Ten arrays, and reallocations of the array that holds them.
        #expect(count.map { (10...20).contains($0) } == true, "\(String(describing: count))")
        #expect(kept.count == 10)
    }
}

/// Files in their own folder, which is deleted with the value.
final class SchemaFiles {
    private let folder: String

    init(_ files: [String: String] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.path + "/parley-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    deinit {
        // A folder that cannot be deleted stays in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: folder)
    }

    subscript(name: String) -> String { folder + "/" + name }

    func write(_ name: String, _ text: String) throws {
        let path = self[name]
        if let end = path.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: String(path[..<end]), withIntermediateDirectories: true)
        }
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
