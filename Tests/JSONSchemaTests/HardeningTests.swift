import Glibc
import JSON
import JSONSchema
import Testing

/// Schemas and values that would make a careless validator slow, deep or wrong. Each check ends in a verdict, a refusal
/// or an exhausted budget.
@Suite("A hostile schema or value") struct HardeningTests {
    @Test("cannot double the work at every level: anyOf over references")
    func exponential() throws {
        var defs = (0..<40).map {
            ##""d\##($0)":{"anyOf":[{"$ref":"#/$defs/d\##($0 + 1)"},{"$ref":"#/$defs/d\##($0 + 1)"}]}"##
        }
        defs.append(##""d40":{"properties":{"a":{"type":"string"}}}"##)
        let schema = try compiled("{\"$ref\":\"#/$defs/d0\",\"$defs\":{\(defs.joined(separator: ","))}}")
        #expect(try schema.verdict(on: #"{"a":"x"}"#) == .valid)
        #expect(try schema.verdict(on: #"{"a":1}"#) == .exhausted(.steps))
        #expect(schema.report(on: try document(#"{"a":1}"#).root).isTruncated)
    }

    @Test("cannot merge without end: allOf over references")
    func exponentialAll() throws {
        var defs = (0..<60).map {
            ##""d\##($0)":{"allOf":[{"$ref":"#/$defs/d\##($0 + 1)"},{"$ref":"#/$defs/d\##($0 + 1)"}]}"##
        }
        defs.append(##""d60":{"properties":{"a":{"type":"string"}}}"##)
        let schema = try compiled("{\"$ref\":\"#/$defs/d0\",\"$defs\":{\(defs.joined(separator: ","))}}")
        #expect(try schema.verdict(on: #"{"a":"x"}"#) == .valid)
        #expect(try schema.verdict(on: #"{"a":1}"#) != .valid)
    }

    @Test("cannot hide work in a wide oneOf on many elements")
    func wide() throws {
        let branches = (0..<2000).map { "{\"multipleOf\":\($0 + 100_000)}" }.joined(separator: ",")
        let schema = try compiled("{\"items\":{\"oneOf\":[\(branches)]}}")
        #expect(try schema.verdict(on: "[100001]") == .valid)
        let many = "[" + [String](repeating: "100001", count: 2000).joined(separator: ",") + "]"
        #expect(try schema.verdict(on: many) == .exhausted(.steps))
    }

    @Test("gets 100,000 unique elements checked in linear time")
    func unique() throws {
        let schema = try compiled(#"{"uniqueItems":true}"#) { $0.limits.payloadBytes = 1 << 24 }
        let numbers = "[" + (0..<100_000).map { "\($0 &* 65536)" }.joined(separator: ",") + "]"
        #expect(try schema.verdict(on: numbers) == .valid)
    }

    @Test("cannot use more pattern matching than its size permits")
    func patterns() throws {
        let patterns = (0..<2_000).map { "{\"pattern\":\"x\($0)$\"}" }.joined(separator: ",")
        let schema = try? compiled("{\"allOf\":[\(patterns)]}") {
            $0.limits.schemaNodes = 40_000; $0.limits.schemaBytes = 1 << 20
        }
        let text = "\"" + String(repeating: "x", count: 60_000) + "\""
        if let schema { #expect(try schema.verdict(on: text) != .valid) }
    }

    /// The expensive part is followed by an error of another kind, which shows whether the time was checked in between.
    private func refusalInTime(of text: String) throws -> String? {
        try refusal(of: text) { $0.limits.compileMilliseconds = 100 }?.problems.first?.detail
    }

    @Test("cannot spend more time than a compile has on the patterns of one object")
    func patternsOfOneObject() throws {
        let costly = (0..<400).map { "\"(a|b)*a(a|b){14}c\($0)\":{}" }.joined(separator: ",")
        let detail = try refusalInTime(of: "{\"patternProperties\":{\(costly),\"(\":{}}}")
        #expect(detail?.hasPrefix("compiling the schema takes more than") == true, "\(detail ?? "")")
    }

    @Test("cannot spend it on matching every pattern with every name")
    func patternsOnNames() throws {
        let patterns = (0..<300).map { "\"^(?=(a+)+$)(a+)+\($0)$\":{}" }.joined(separator: ",")
        let names = (0..<200).map { "\"aaaaaaaaa\($0)\":{}" }.joined(separator: ",")
        let last = String(repeating: "a", count: 40) + "!"
        let detail = try refusalInTime(
            of: "{\"patternProperties\":{\(patterns)},\"properties\":{\(names),\"\(last)\":{}}}")
        #expect(detail?.hasPrefix("compiling the schema takes more than") == true, "\(detail ?? "")")
    }

    @Test("cannot spend it on the common elements of two lists")
    func lists() throws {
        let lists = [0, 4_900].map { start in
            "{\"enum\":[" + (start..<start + 4_900).map { "[\($0)]" }.joined(separator: ",") + "]}"
        }
        let last =
            "\"patternProperties\":{\"^(?=(a+)+$)b\":{}},\"properties\":{\""
            + String(repeating: "a", count: 40) + "!\":{}}"
        let detail = try refusalInTime(
            of: "{\"properties\":{\"p\":{\"allOf\":[\(lists.joined(separator: ","))]},\"q\":{\(last)}}}")
        #expect(detail?.hasPrefix("compiling the schema takes more than") == true, "\(detail ?? "")")
    }

    @Test("cannot multiply the memory of a long name or identifier that everything below repeats")
    func longNames() throws {
        let members = (0..<5_000).map { "\"a\($0)\":{}" }.joined(separator: ",")
        let name = String(repeating: "x", count: 100_000)
        let parts = (0..<2_000).map { "{\"$id\":\"y\($0)\"}" }.joined(separator: ",")
        for text in [
            "{\"properties\":{\"\(name)\":{\"properties\":{\(members)}}}}",
            "{\"$id\":\"http://a/\(name)/\",\"allOf\":[\(parts)]}",
        ] {
            #expect(try refusal(of: text)?.problems.first?.reason == .limit)
        }
    }

    @Test("has names distinguished that begin and end alike")
    func names() throws {
        let names = (0..<1500).map { "prefix__\(1_000_000 + $0)__suffix" }
        let members = names.map { "\"\($0)\":{\"const\":\"\($0)\"}" }.joined(separator: ",")
        let schema = try compiled("{\"properties\":{\(members)},\"additionalProperties\":false}") {
            $0.limits.membersPerObject = 2000
        }
        let value = names.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",")
        #expect(try schema.verdict(on: "{\(value)}") == .valid)
        #expect(try schema.verdict(on: "{\"\(names[7])\":\"\(names[8])\"}") == .invalid)
        #expect(try schema.verdict(on: "{\"prefix__9999999__suffix\":1}") == .invalid)
    }

    @Test("may chain 3,000 references")
    func chain() throws {
        for sibling in ["", ",\"minLength\":1"] {
            var defs = (0..<3000).map { "\"d\($0)\":{\"$ref\":\"#/$defs/d\($0 + 1)\"\(sibling)}" }
            defs.append("\"d3000\":{\"type\":\"string\"}")
            let schema = try compiled("{\"$ref\":\"#/$defs/d0\",\"$defs\":{\(defs.joined(separator: ","))}}") {
                $0.limits.schemaBytes = 1 << 20
            }
            #expect(try schema.verdict(on: "\"x\"") == .valid)
            #expect(try schema.verdict(on: "1") == .invalid)
            #expect(try schema.violations(on: "1").count == 1)
        }
    }

    @Test("cannot fan out through a dynamic reference")
    func dynamicFan() throws {
        let branches = [String](repeating: ##"{"$dynamicRef":"#node"}"##, count: 50).joined(separator: ",")
        let schema = try compiled(
            "{\"$dynamicAnchor\":\"node\",\"type\":[\"array\",\"string\"],\"items\":{\"anyOf\":[\(branches)]}}")
        let deep = String(repeating: "[", count: 30) + "1" + String(repeating: "]", count: 30)
        #expect(try schema.verdict(on: deep) == .exhausted(.steps))
    }

    @Test("may refer to its metaschema a thousand times")
    func metaschema() throws {
        let members = (0..<1000)
            .map { "\"m\($0)\":{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}" }.joined(separator: ",")
        let schema = try compiled("{\"properties\":{\(members)}}")
        #expect(try schema.verdict(on: #"{"m7":{"type":"string"}}"#) == .valid)
        #expect(try schema.verdict(on: #"{"m7":{"type":"text"}}"#) == .invalid)
        #expect(schema.planBytes < 1 << 20)
    }

    @Test(
        "cannot make a schema apply itself to the same value without end",
        arguments: [
            ##"{"$ref":"#"}"##,
            ##"{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}"##,
            ##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"if":{"$ref":"#/$defs/a"}}},"properties":{"x":{"$ref":"#/$defs/a"}}}"##,
            ##"{"$dynamicAnchor":"n","oneOf":[{"$dynamicRef":"#n"}]}"##,
        ])
    func cycles(_ text: String) throws {
        let refused = try #require(try refusal(of: text))
        #expect(refused.problems.first?.reason == .cycle)
        #expect(refused.problems.first?.detail.contains("→") == true)
    }

    @Test("may be recursive where it goes deeper into the value")
    func recursion() throws {
        let schema = try compiled(
            ##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##)
        #expect(try schema.verdict(on: #"{"next":{"next":{}}}"#) == .valid)
        #expect(try schema.verdict(on: #"{"next":{"next":{"x":1}}}"#) == .invalid)
    }

    @Test("fits into the stack of a small thread, however deep schema and value are nested")
    func stack() throws {
        // The same position: 40 levels of alternatives for each level of the value.
        var inner = ##"{"items":{"$ref":"#"},"type":"array"}"##
        for _ in 0..<40 { inner = "{\"anyOf\":[{\"const\":0},{\"not\":{\"not\":\(inner)}}]}" }
        let schema = try compiled(inner) { $0.limits.schemaDepth = 1000 }
        let value = try document(String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
        let verdict = onSmallStack {
            var scratch = Scratch()
            let verdict = schema.verdict(on: value.root, scratch: &scratch)
            _ = schema.report(on: value.root)
            return verdict
        }
        #expect(verdict == .exhausted(.depth))
    }

    @Test("never makes the compiler open a connection")
    func network() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                try #require(bind(listener, plain, length) == 0)
                try #require(listen(listener, 8) == 0)
                try #require(getsockname(listener, plain, &length) == 0)
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        let refused = try refusal(of: "{\"anyOf\":[true,{\"$ref\":\"http://127.0.0.1:\(port)/schema.json\"}]}")
        #expect(refused?.problems.first?.reason == .unresolved)
        #expect(refused?.problems.first?.pointer == "#/anyOf/1")
        var poller = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        #expect(poll(&poller, 1, 0) == 0, "somebody connected")
    }
}

/// Runs work on a thread with a small stack and returns its result.
private func onSmallStack<Answer>(_ work: @escaping () -> Answer) -> Answer? {
    let box = SmallStackJob()
    var answer: Answer?
    withoutActuallyEscaping({ answer = work() }) { escaping in
        box.work = escaping
        box.runToEnd()
        box.work = nil
    }
    return answer
}

private final class SmallStackJob {
    var work: (() -> Void)?

    /// The stack size that the product promises. Stack frames of a debug build are several times larger.
    private static var stackBytes: Int {
        #if DEBUG
            2048 * 1024
        #else
            512 * 1024
        #endif
    }

    func runToEnd() {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, Self.stackBytes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        var thread: pthread_t = 0
        let started = pthread_create(
            &thread, attributes,
            { context in
                context.map { Unmanaged<SmallStackJob>.fromOpaque($0).takeUnretainedValue().work?() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        if started == 0 { pthread_join(thread, nil) }
    }
}
