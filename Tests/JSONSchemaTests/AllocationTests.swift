import Glibc
import JSON
import JSONSchema
import Testing

/// Counting replaces a function of the Swift runtime, which is safe only while no other Swift code runs. The counts
/// therefore run in a separate process, which `AllocationTests` starts.
private let countsHere = getenv("COUNT_OBJECTS") != nil

@Suite("A verdict on a valid value") struct AllocationTests {
    @Test("allocates no object once its scratch memory is warm", .disabled(if: countsHere))
    func nothing() throws {
        let arguments = [
            CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter", "ObjectCountTests",
        ]
        var pointers = arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("COUNT_OBJECTS=1")]
        if let path = getenv("LD_LIBRARY_PATH") {
            environment.append(strdup("LD_LIBRARY_PATH=" + String(cString: path)))
        }
        environment.append(nil)
        defer { (pointers + environment).forEach { free($0) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, arguments[0], nil, nil, &pointers, environment) == 0)
        var status: Int32 = -1
        try #require(waitpid(child, &status, 0) == child)
        #expect(status == 0, "the counting process says more")
    }
}

@Suite("In a process of its own", .serialized, .enabled(if: countsHere, "AllocationTests starts it"))
struct ObjectCountTests {
    private static let cases: [(schema: String, value: String)] = [
        (
            #"{"type":"object","properties":{"id":{"type":"string","pattern":"^[a-z]+$"},"n":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true}},"required":["id"],"additionalProperties":false}"#,
            #"{"id":"abc","n":3,"tags":["a","b"]}"#
        ),
        (
            #"{"oneOf":[{"properties":{"kind":{"const":"a"},"x":{"type":"number","multipleOf":0.01}},"required":["kind"]},{"properties":{"kind":{"const":"b"}},"required":["kind"]}],"unevaluatedProperties":false}"#,
            #"{"kind":"a","x":19.99}"#
        ),
        (
            ##"{"properties":{"next":{"$ref":"#"}},"patternProperties":{"^x":{"format":"date-time"}},"propertyNames":{"maxLength":8},"anyOf":[{"required":["next"]},{"minProperties":0}]}"##,
            #"{"next":{"next":{},"x1":"2026-01-02T03:04:05Z"}}"#
        ),
        (
            #"{"prefixItems":[{"const":1}],"contains":{"type":"string"},"unevaluatedItems":{"type":"null"},"uniqueItems":true}"#,
            "[1,\"a\",null,\"" + (0..<30).map { "s\($0)" }.joined(separator: "\",\"") + "\"]"
        ),
    ]

    @Test("a verdict makes no object")
    func nothing() throws {
        for (access, (text, value)) in [NodeAccessChoice.public, .layout].flatMap({ access in
            Self.cases.map { (access, $0) }
        }) {
            let schema = try compiled(text) { ($0.access, $0.formats) = (access, .assert) }
            let document = try document(value)
            var scratch = Scratch()
            #expect(schema.verdict(on: document.root, scratch: &scratch) == .valid, "\(text)")
            let made = ObjectCount.during {
                for _ in 0..<100 { _ = schema.verdict(on: document.root, scratch: &scratch) }
            }
            #expect(made == 0, "\(text)")
        }
    }

    @Test("the count sees objects")
    func count() {
        let made = ObjectCount.during { for size in 1...10 { keep([Int](repeating: size, count: size)) } }
        #expect(made >= 10)
    }

    @inline(never) private func keep(_ value: [Int]) { withExtendedLifetime(value) {} }
}

/// Counts the objects that the calling thread allocates, through the pointer that the Swift runtime offers to
/// instruments.
private enum ObjectCount {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

    nonisolated(unsafe) private static var original: Allocate?
    nonisolated(unsafe) private static var thread: pthread_t = 0
    nonisolated(unsafe) private static var made = 0

    static func during(_ work: () -> Void) -> Int {
        guard let hook = dlsym(nil, "_swift_allocObject")?.assumingMemoryBound(to: Allocate.self),
            let isOn = dlsym(nil, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")?
                .assumingMemoryBound(to: UInt8.self)
        else { return -1 }
        original = hook.pointee
        thread = pthread_self()
        made = 0
        hook.pointee = { metadata, size, mask in
            if pthread_equal(pthread_self(), ObjectCount.thread) != 0 { ObjectCount.made += 1 }
            return ObjectCount.original?(metadata, size, mask)
        }
        isOn.pointee = 1
        work()
        isOn.pointee = 0
        if let original { hook.pointee = original }
        return made
    }
}
