import JSON
import Templates
import TestSupport
import Testing

@Suite("Random templates") struct RandomTemplateTests {
    private static let references = [
        "body", "body/a", "body/a/0", "body/~1", "body/~2", "header/X", "header/", "source", "i", "i/a", "nobody", "",
    ]
    private static let texts = [
        "{", "}", "{{", "}}", "{body/a}", "{body/a|x}", "{i}", "{header/X|}", "é", "\u{0}", "plain", "{|}", "{body|{}",
    ]

    private static func quoted(_ text: String) -> String { JSONText(string: text).description }

    private static func reference(_ draws: inout SeededGenerator) -> String {
        quoted(references.randomElement(using: &draws)!)
    }

    private static func text(_ draws: inout SeededGenerator) -> String {
        quoted((0..<Int.random(in: 0..<4, using: &draws)).map { _ in texts.randomElement(using: &draws)! }.joined())
    }

    /// Generates a template, valid or invalid.
    private static func template(_ draws: inout SeededGenerator, depth: Int) -> String {
        func inner() -> String { template(&draws, depth: depth - 1) }
        switch depth == 0 ? Int.random(in: 0..<3, using: &draws) : Int.random(in: 0..<9, using: &draws) {
        case 0: return ["1", "null", "true", "-1.50", "[]", "{}"].randomElement(using: &draws)!
        case 1: return text(&draws)
        case 2:
            let extra = ["", #","default":0"#, #","to":"json""#, #","to":"number","default":null"#, #","x":1"#]
            return #"{"$":\#(reference(&draws))\#(extra.randomElement(using: &draws)!)}"#
        case 3: return "[\(inner()),\(inner())]"
        case 4: return #"{"a":\#(inner()),"a/b":\#(inner())}"#
        case 5:
            return #"{"$switch":\#(reference(&draws)),"cases":{"1":\#(inner()),"":\#(inner())},"default":\#(inner())}"#
        case 6:
            return #"{"$each":\#(reference(&draws)),"as":"i","value":\#(inner()),"default":[]}"#
        case 7:
            return
                #"{"$each":\#(reference(&draws)),"as":"i","when":{\#(reference(&draws)):[1,null]},"value":\#(inner())}"#
        default: return #"{"$join":\#(inner()),"separator":\#(text(&draws))}"#
        }
    }

    private static let bodies = [
        "null", "[]", "[1,2,[3,[4]]]", #"{"a":[{"a":1},{"a":"x"},null]}"#, #"{"a":"{\"b\":1}","/":"s"}"#,
        #""\ud834\udd1e\"""#,
        "[" + Array(repeating: "[[1,2],[3]]", count: 200).joined(separator: ",") + "]",
    ]

    @Test(
        "are refused with a place, or fill in to JSON within their bounds, or say why not", arguments: [UInt64](1...12))
    func random(seed: UInt64) throws {
        var draws = SeededGenerator(seed: seed)
        var limits = TemplateLimits()
        limits.steps = 3000
        var filled = 0
        for _ in 0..<400 {
            let text = Self.template(&draws, depth: 4)
            var compiler = TemplateCompiler(
                roots: [
                    ReferenceRoot("body", .document), ReferenceRoot("header", .table), ReferenceRoot("source", .text),
                ])
            let template = compiler.template(json(text))
            guard let template, compiler.faults.isEmpty else {
                #expect(!compiler.faults.isEmpty, "seed \(seed): \(text)")
                #expect(compiler.faults.allSatisfy { $0.pointer.isEmpty || $0.pointer.hasPrefix("/") })
                continue
            }
            for body in Self.bodies {
                let context = Documents(documents: ["body": body], headers: ["X": "1"])
                do throws(TemplateError) {
                    let value = try template.render(context, limitBytes: 2000, limits: limits)
                    filled += 1
                    #expect(value.count <= 2000)
                    #expect(
                        throws: Never.self, "seed \(seed): \(text) with \(body.prefix(40)) gave \(value)"
                    ) { try JSONDocument(value.bytes, limits: JSONLimits(depth: 512), numbers: .lenient) }
                } catch .missing(let gaps) {
                    #expect(!gaps.isEmpty, "seed \(seed): \(text)")
                } catch .tooLarge, .tooMuchWork {
                    // The result for a hostile body.
                }
            }
        }
        #expect(filled > 100, "seed \(seed) tries hardly anything")
    }

    @Test("of any bytes do not stop the compiler", arguments: [UInt64](1...6))
    func bytes(seed: UInt64) {
        var draws = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "$", "$each", "$switch", "$join", "cases", "as", "\\", "1", "body", " ",
            "é",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0..<24, using: &draws)).map { _ in pieces.randomElement(using: &draws)! }
                .joined()
            var compiler = TemplateCompiler(roots: [ReferenceRoot("body", .document)])
            let template = compiler.template(json(text))
            #expect(template != nil || !compiler.faults.isEmpty, "seed \(seed): \(text)")
        }
    }
}
