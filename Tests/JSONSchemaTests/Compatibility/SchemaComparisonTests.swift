import Glibc
import JSON
import Testing

@testable import JSONSchema

private func document(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

private enum Answer: String { case yes, no, unknown }

private func answer(
    _ old: String, _ new: String, _ mode: SchemaComparison.Mode, isLenient: Bool = false
) throws -> Answer {
    let comparison = try SchemaComparison(old: document(old), new: document(new), mode: mode, isLenient: isLenient)
    switch comparison.verdict {
    case .yes: return .yes
    case .no: return .no
    case .unknown: return .unknown
    }
}

/// A change with the expected answers backward and forward.
private struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    let old: String
    let new: String
    let backward: Answer
    let forward: Answer

    init(_ what: String, _ old: String, _ new: String, _ backward: Answer, _ forward: Answer) {
        (self.what, self.old, self.new, self.backward, self.forward) = (what, old, new, backward, forward)
    }

    var testDescription: String { what }
}

private let table = [
    Row("add a required member", #"{"type":"object"}"#, #"{"type":"object","required":["a"]}"#, .no, .yes),
    Row("tighten a bound", #"{"minimum":1}"#, #"{"minimum":2}"#, .no, .yes),
    Row("tighten a pattern", #"{"pattern":"^ab"}"#, #"{"pattern":"^abc"}"#, .no, .yes),
    Row("tighten a type", #"{"type":["string","null"]}"#, #"{"type":"string"}"#, .no, .yes),
    Row("number to integer", #"{"type":"number"}"#, #"{"type":"integer"}"#, .no, .yes),
    Row("drop an enum value", #"{"enum":["a","b"]}"#, #"{"enum":["a"]}"#, .no, .yes),
    Row("swap an enum value", #"{"enum":["a","b"]}"#, #"{"enum":["a","c"]}"#, .no, .no),
    Row("drop a required member", #"{"required":["a","b"]}"#, #"{"required":["a"]}"#, .yes, .no),
    Row("widen a bound", #"{"maxLength":3}"#, #"{"maxLength":4}"#, .yes, .no),
    Row("widen a type", #"{"type":"string"}"#, #"{"type":["string","integer"]}"#, .yes, .no),
    Row("add an enum value", #"{"enum":["a"]}"#, #"{"enum":["a","b"]}"#, .yes, .no),
    Row(
        "add an optional member, old model closed",
        #"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
        #"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}"#,
        .yes, .no),
    Row(
        "add an optional member, old model open", #"{"properties":{"a":{"type":"string"}}}"#,
        #"{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}"#, .no, .yes),
    Row(
        "remove an optional member, new model closed",
        #"{"properties":{"a":true,"b":{"type":"integer"}},"additionalProperties":false}"#,
        #"{"properties":{"a":true},"additionalProperties":false}"#, .no, .yes),
    Row(
        "open to closed", #"{"properties":{"a":true}}"#, #"{"properties":{"a":true},"additionalProperties":false}"#,
        .no, .yes),
    Row(
        "closed to open", #"{"properties":{"a":true},"additionalProperties":false}"#, #"{"properties":{"a":true}}"#,
        .yes, .no),
    Row("another pattern", #"{"pattern":"^[a-f]+$"}"#, #"{"pattern":"^[a-g]+$"}"#, .unknown, .no),
    Row("drop a format", #"{"type":"string","format":"date"}"#, #"{"type":"string"}"#, .yes, .no),
    Row("a wider format", #"{"format":"uri"}"#, #"{"format":"uri-reference"}"#, .yes, .no),
    Row("another step", #"{"multipleOf":4}"#, #"{"multipleOf":2}"#, .yes, .no),
    Row("steps across", #"{"multipleOf":4}"#, #"{"multipleOf":6}"#, .no, .no),
    Row(
        "title and order", #"{"title":"x","minimum":1,"maximum":5}"#,
        #"{"maximum":5.0,"minimum":1.0,"description":"y","examples":[2]}"#, .yes, .yes),
    // More rows than the documented table has.
    Row("const is an enum of one", #"{"const":"a"}"#, #"{"enum":["a"]}"#, .yes, .yes),
    Row(
        "integers in a range are an enum", #"{"type":"integer","minimum":1,"exclusiveMaximum":4}"#,
        #"{"enum":[3,2.0,1]}"#, .yes, .yes),
    Row("allOf merged", #"{"allOf":[{"minimum":1},{"maximum":5}]}"#, #"{"minimum":1,"maximum":5}"#, .yes, .yes),
    Row(
        "a reference written out", ##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##, ##"{"type":"string"}"##,
        .yes, .yes),
    Row(
        "a branch more", #"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        #"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#, .yes, .no),
    Row(
        "anyOf of types is a list of types", #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        #"{"type":["null","string"]}"#, .yes, .yes),
    Row(
        "a discriminated branch more",
        #"{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}],"type":"object"}"#,
        #"{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]},{"properties":{"k":{"const":"c"}},"required":["k"]}],"type":"object"}"#,
        .yes, .no),
    Row(
        "a member more in one discriminated branch",
        #"{"type":"object","required":["k"],"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"integer"}}},{"properties":{"k":{"const":"b"}}}]}"#,
        #"{"type":"object","required":["k"],"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"number"}}},{"properties":{"k":{"const":"b"}}}]}"#,
        .yes, .no),
    Row(
        "recursion", ##"{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}"##,
        ##"{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}"##, .yes, .no),
    Row("elements", #"{"items":{"type":"integer"},"maxItems":3}"#, #"{"items":{"type":"number"}}"#, .yes, .no),
    Row(
        "a tuple", #"{"prefixItems":[{"type":"string"}],"items":false}"#, #"{"prefixItems":[{"type":"string"}]}"#, .yes,
        .no),
    Row("a pair that may repeat", #"{"maxItems":2}"#, #"{"maxItems":2,"uniqueItems":true}"#, .no, .yes),
    Row("one element cannot repeat", #"{"maxItems":1}"#, #"{"maxItems":1,"uniqueItems":true}"#, .yes, .yes),
    Row("unique elements", #"{"type":"array","uniqueItems":true}"#, #"{"type":"array"}"#, .yes, .no),
    Row(
        "contains", #"{"type":"array","contains":{"const":1}}"#, #"{"type":"array","contains":{"type":"integer"}}"#,
        .yes, .no),
    Row("not the same", #"{"not":{"required":["a"]}}"#, #"{"not":{"required":["a"],"minProperties":1}}"#, .yes, .yes),
    Row("not a type", #"{"type":["integer","string"]}"#, #"{"not":{"type":"null"}}"#, .yes, .no),
    Row(
        "if the same", #"{"if":{"minimum":5},"then":{"multipleOf":4}}"#,
        #"{"if":{"minimum":5},"then":{"multipleOf":2}}"#, .yes, .no),
    Row(
        "equal unevaluatedProperties",
        #"{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}"#,
        #"{"title":"t","anyOf":[{"properties":{"b":true}},{"properties":{"a":true}}],"unevaluatedProperties":false}"#,
        .yes, .yes),
    Row(
        "unevaluatedProperties that is plainly closed",
        #"{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}"#,
        #"{"properties":{"a":true,"b":true},"additionalProperties":false}"#, .yes, .yes),
    Row(
        "another dialect", #"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}"#,
        #"{"prefixItems":[{"type":"string"}]}"#, .yes, .yes),
    Row(
        "patternProperties", #"{"patternProperties":{"^x-":{"type":"integer"}}}"#,
        #"{"patternProperties":{"^x-":{"type":"number"}}}"#, .yes, .no),
    Row("names", #"{"propertyNames":{"maxLength":3}}"#, #"{"propertyNames":{"maxLength":4}}"#, .yes, .no),
    Row("dependents", #"{"dependentRequired":{"a":["b","c"]}}"#, #"{"dependentRequired":{"a":["b"]}}"#, .yes, .no),
    Row("nothing at all", "false", #"{"type":"string"}"#, .yes, .no),
    Row("numbers past 2^53", #"{"maximum":9007199254740992}"#, #"{"maximum":9007199254740993}"#, .yes, .no),
]

@Suite("A comparison of two versions") struct SchemaComparisonTests {
    @Test("answers backward and forward", arguments: table)
    private func rows(_ row: Row) throws {
        #expect(try answer(row.old, row.new, .backward) == row.backward)
        #expect(try answer(row.old, row.new, .forward) == row.forward)
        // With old and new swapped, each direction becomes the other one.
        #expect(try answer(row.new, row.old, .backward) == row.forward)
        #expect(try answer(row.new, row.old, .forward) == row.backward)
        #expect(try answer(row.old, row.old, .full) == .yes)
    }

    @Test("finds no change where titles, examples and order differ")
    func noChange() throws {
        let old = #"{"type":"object","title":"a","properties":{"a":{"minimum":1,"maximum":2},"b":{"enum":[1,2]}}}"#
        let new = #"{"properties":{"b":{"enum":[2,1.0]},"a":{"maximum":2,"minimum":1,"examples":[1]}},"type":"object"}"#
        let comparison = try SchemaComparison(old: document(old), new: document(new), mode: .full)
        #expect(comparison.changes.isEmpty)
        #expect(comparison.verdict == .yes)
    }

    @Test("names the place, the change and the affected direction")
    func changes() throws {
        let old = #"{"type":"object","properties":{"a":{"type":"integer","minimum":1},"k":{"enum":["x","y"]}}}"#
        let new =
            #"{"type":"object","properties":{"a":{"type":"integer"},"k":{"enum":["x","z"]}},"required":["k"]}"#
        let comparison = try SchemaComparison(old: document(old), new: document(new), mode: .full)
        let changes = comparison.changes.map { "\($0.pointer): \($0.change) \($0.breaks.map(\.rawValue))" }
        #expect(
            changes == [
                "#/properties/k/enum: no longer accepts \"y\"; now accepts \"z\" [\"backward\", \"forward\"]",
                "#/required: 'k' is now required [\"backward\"]",
                "#/properties/a/minimum: the lower bound is no longer 1 [\"forward\"]",
            ])
    }

    @Test("treats an added optional member as compatible when it is lenient, and reports that")
    func lenient() throws {
        let old = #"{"type":"object","properties":{"a":{"type":"string"}}}"#
        let new = #"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}"#
        let comparison = try SchemaComparison(old: document(old), new: document(new), mode: .full, isLenient: true)
        #expect(comparison.verdict == .yes)
        let change = try #require(comparison.changes.first)
        #expect(change.pointer == "#/properties/b" && change.breaks.isEmpty && change.undecided.isEmpty)
        // The old version's rule for the member still applies, as does its being required.
        #expect(try answer(new, new.replacing("integer", with: "string"), .backward, isLenient: true) == .no)
        #expect(
            try answer(old, #"{"type":"object","properties":{"b":true},"required":["b"]}"#, .backward, isLenient: true)
                == .no)
    }

    @Test("gives a witness that one version accepts and the other refuses")
    func witness() throws {
        let old =
            #"{"type":"object","required":["list"],"properties":{"list":{"type":"array","minItems":2,"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[a-z]{3}-[0-9]+$"},"n":{"type":"integer"}}}}}}"#
        let new = old.replacing(#""n":{"type":"integer"}"#, with: #""n":{"type":"integer","maximum":100}"#)
        let comparison = try SchemaComparison(old: document(old), new: document(new), mode: .backward)
        guard case .no(let witness) = comparison.verdict else {
            Issue.record("\(comparison)")
            return
        }
        let value = try JSONDocument(witness.bytes)
        var scratch = Scratch()
        #expect(try Schema(document(old)).verdict(on: value.root, scratch: &scratch) == .valid)
        #expect(try Schema(document(new)).verdict(on: value.root, scratch: &scratch) == .invalid)
        #expect(comparison.changes.map(\.pointer) == ["#/properties/list/items/properties/n/maximum"])
    }

    @Test("reports when it cannot decide")
    func undecided() throws {
        let old = #"{"properties":{"a":{"pattern":"^[a-f]+$"}}}"#
        let new = #"{"properties":{"a":{"pattern":"^[a-g]+$"}}}"#
        let comparison = try SchemaComparison(old: document(old), new: document(new), mode: .backward)
        #expect(comparison.verdict == .unknown)
        #expect(comparison.changes.contains { $0.pointer == "#/properties/a/pattern" && $0.undecided == [.backward] })
    }
}

/// Runs work on a thread with the smallest stack that the program gives its threads.
enum SmallStack {
    /// 512 KiB is what the product promises; the frames of a debug build are several times larger.
    private static var bytes: Int {
        #if DEBUG
            2048 * 1024
        #else
            512 * 1024
        #endif
    }

    private final class Job {
        let work: () -> Void
        init(_ work: @escaping () -> Void) { self.work = work }
    }

    /// Nil when no thread could be started.
    static func run<Answer>(_ work: @escaping () -> Answer) -> Answer? {
        var answer: Answer?
        let job = Job { answer = work() }
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, bytes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        var thread = pthread_t()
        let started = pthread_create(
            &thread, attributes,
            { context in
                context.map { Unmanaged<Job>.fromOpaque($0).takeUnretainedValue().work() }
                return nil
            }, Unmanaged.passUnretained(job).toOpaque())
        guard started == 0 else { return nil }
        withExtendedLifetime(job) { _ = pthread_join(thread, nil) }
        return answer
    }
}
