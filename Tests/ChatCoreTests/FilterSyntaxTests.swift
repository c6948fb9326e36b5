import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@Suite("The syntax of filters") struct FilterSyntaxTests {
    @Test(
        "is refused with the place of the fault",
        arguments: [
            ("", "the expression is empty", 1), ("   ", "the expression is empty", 4),
            ("data.a ==", "found the end", 10),
            ("data.a = 1", "'=='", 8), ("foo == 1", "unknown name 'foo' (known: type, channel, user", 1),
            ("type.x == 1", "has no members", 1), ("data.a == 'x", "closing quote", 11),
            ("(data.a", "'(' without ')'", 1),
            ("data.a)", "found ')'", 7), ("data.", "expected a name after '.'", 6), ("data[x]", "after '['", 6),
            ("data['x'", "expected ']'", 9), ("data[1.5]", "whole number", 6), ("1 == 2 == 3", "cannot be chained", 8),
            ("data.a LIKE 'x' LIKE 'y'", "cannot be chained", 17), ("&& data.a", "found '&&'", 1),
            ("data.a data.b", "found 'data'", 8),
            ("data.é == §", "unknown name", 11), ("1.2.3 == 1", "a number is not valid", 1),
            ("5x == 1", "a number is not valid", 1),
            ("1e999 == 1", "out of range", 1), ("data.a == #", "unexpected '#'", 11), ("like == 1", "found 'like'", 1),
            ("()", "found ')'", 2), ("(1,)", "found ')'", 4), ("data.a == 1 || ", "found the end", 16),
        ])
    func faults(_ text: String, _ what: String, _ column: Int) {
        let error = #expect(throws: ChatError.self) { try Filter(text) }
        #expect(error?.code == .malformed)
        #expect(error?.slug == "bad_filter")
        #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix("at column \(column)") == true, "\(error?.message ?? "")")
    }

    @Test("is bounded in length")
    func length() throws {
        let fits = "data.a == '" + String(repeating: "x", count: 8 * 1024 - 12) + "'"
        _ = try Filter(fits)
        let error = #expect(throws: ChatError.self) { try Filter(fits + " ") }
        #expect(error?.code == .malformed)
        #expect(error?.slug == "bad_filter")
    }

    @Test("is bounded in depth", arguments: ["(", "!", "-", "~", "not "])
    func depth(_ opening: String) throws {
        func expression(_ levels: Int) -> String {
            let closing = opening == "(" ? String(repeating: ")", count: levels) : ""
            return String(repeating: opening, count: levels) + "data.a" + closing
        }
        _ = try Filter(expression(64))
        let error = #expect(throws: ChatError.self) { try Filter(expression(65)) }
        #expect(error?.message.contains("nested deeper than 64 levels") == true)
    }

    @Test("is bounded in how often it reads a text", arguments: ["data.a LIKE '*b*'", "data.a contains 'b'"])
    func searches(_ comparison: String) throws {
        func expression(_ count: Int) -> String {
            Array(repeating: comparison, count: count).joined(separator: " or ")
        }
        #expect(try Filter(expression(64)).accepts(event(1, data: #"{"a":"XBX"}"#)))
        let error = #expect(throws: ChatError.self) { try Filter(expression(65)) }
        #expect(error?.message.contains("more than 64 uses of LIKE and CONTAINS") == true)
    }

    @Test("allows chains that are long but not deep", arguments: [" || data.a", " && 1", " + 1", " * 2"])
    func chains(_ link: String) throws {
        let text = "1" + String(repeating: link, count: 8000 / link.utf8.count)
        _ = try Filter(text).accepts(sampleEvent())
    }

    @Test("survives any text: it compiles and can be evaluated, or is refused as a bad filter")
    func randomInput() throws {
        var random = SeededGenerator()
        let words = [
            "data", "meta", "type", ".", "[", "]", "(", ")", ",", "'a*'", "\"\\\"\"", "'", "==", "!=", "<", ">=", "&&",
            "||", "!",
            "like", "CONTAINS", "1", "2.5e3", "-", "~", "*", "/", "%", "&", "|", "^", "true", "null", "not", " ", "\\",
            "é", "\0", "=",
            "x", "9223372036854775807", "$",
        ]
        let subject = FilterSubject(FilterTests.event)
        var compiled = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...14, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }
            .joined(separator: Bool.random(using: &random) ? " " : "")
            do throws(ChatError) {
                for dialect in [FilterDialect.pubnub, .native] {
                    _ = try Filter(text, dialect: dialect).accepts(subject)
                    compiled += 1
                }
            } catch {
                guard error.slug == "bad_filter" else {
                    Issue.record("seed \(random.seed): '\(text)' was refused as \(error)")
                    return
                }
            }
        }
        #expect(compiled > 100, "seed \(random.seed): the words hardly ever make an expression")
    }
}

@Suite("Hardening of filters") struct FilterHardeningTests {
    @Test("a pattern full of wildcards costs no more than reading it: backtracking would not end")
    func wildcards() throws {
        let text = String(repeating: "a", count: 60_000)
        let pattern = String(repeating: "*a", count: 1500) + "*b"
        #expect(try !Filter("data LIKE '\(pattern)'").accepts(sampleEvent(data: "\"\(text)\"")))
        #expect(try Filter("data LIKE '\(pattern)'").accepts(sampleEvent(data: "\"\(text)b\"")))
    }

    @Test("a long part is looked for in a long text without trying it at every place")
    func substrings() throws {
        let part = String(repeating: "a", count: 8000)
        let text = String(repeating: part.dropLast() + "b", count: 8)
        #expect(try !Filter("data CONTAINS '\(part)'").accepts(sampleEvent(data: "\"\(text)\"")))
        #expect(try !Filter("data LIKE '*\(part)*'").accepts(sampleEvent(data: "\"\(text)\"")))
    }

    @Test("pieces of a pattern do not overlap the ends of the text")
    func overlap() throws {
        #expect(try !Filter("data LIKE 'aba*ba'").accepts(sampleEvent(data: #""aba""#)))
        #expect(try !Filter("data LIKE 'a*a*a'").accepts(sampleEvent(data: #""aa""#)))
        #expect(try Filter("data LIKE 'a*a*a'").accepts(sampleEvent(data: #""aaa""#)))
        #expect(try Filter("data LIKE '*aab*'").accepts(sampleEvent(data: #""aaaab""#)))
    }
}
