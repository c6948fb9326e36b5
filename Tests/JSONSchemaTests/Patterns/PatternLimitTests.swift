import Glibc
import Testing

@testable import JSONSchema

@Suite("The cost of a pattern") struct PatternLimitTests {
    @Test("is bounded where backtracking would explode")
    func backtracking() throws {
        let pattern = try Pattern("^(?=(a+)+$)a")
        var steps = 100_000
        #expect(pattern.verdict(String(repeating: "a", count: 40) + "!", steps: &steps) == .exhausted)
        #expect(steps <= 0)
        #expect(pattern.verdict(String(repeating: "a", count: 40)) == .match)
    }

    @Test(
        "of the usual lookarounds is paid by the default even on the longest payload",
        arguments: ["(?<=x)y", "(?<!a)b", "^(?=.*[A-Z])(?=.*\\d).{8,}$", "^(?!.*secret).*$"])
    func longText(_ source: String) throws {
        let pattern = try Pattern(source)
        #expect(pattern.verdict(String(repeating: "aé", count: 21_845)) != .exhausted)
    }

    @Test("is shared by all patterns of a document")
    func sharedBudget() throws {
        let pattern = try Pattern("^(?!b).*$")
        var steps = 1_000
        var verdicts: [PatternVerdict] = []
        while verdicts.last != .exhausted { verdicts.append(pattern.verdict("aaaa", steps: &steps)) }
        #expect(verdicts.count > 50 && verdicts.dropLast().allSatisfy { $0 == .match })
    }

    @Test(
        "needs no budget without lookaround and references", arguments: ["^(a+)+$", "(a|a)*b", "(.*)(.*)(.*)x", "a{3}"])
    func linear(_ source: String) throws {
        let pattern = try Pattern(source)
        var steps = 0
        #expect(pattern.verdict(String(repeating: "a", count: 65_536) + "!", steps: &steps) != .exhausted)
        #expect(steps == 0)
    }

    @Test("counts the work of a simulation")
    func simulation() throws {
        let pattern = try Pattern("(a|b)*a(a|b){14}c")
        let text = String(repeating: "ab", count: 200)
        var steps = 100_000
        #expect(pattern.verdict(text, steps: &steps) == .noMatch)
        #expect(steps < 100_000)
        #expect(pattern.verdict(text + "ac", steps: 100_000) == .match)
        #expect(pattern.verdict(text, steps: 10) == .exhausted)
    }

    @Test(
        "is refused when repeats multiply",
        arguments: [
            "(?:a|bc){300}", "(?:(?:ab){30}){30}", "((((a{9}){9}){9}){9}){9}", "(?:\\w\\d){501}x",
            "((?:ab){40}c){30}\\1",
            "(?:ab?){1000000000}",
        ])
    func repeats(_ source: String) throws {
        let refusal = try #require(Pattern.refusal(source))
        #expect(refusal.message == "the pattern is too large because of its repetitions")
        #expect(Pattern.isValid(source))
    }

    @Test("is refused when the whole is too large")
    func size() {
        #expect(Pattern.refusal(String(repeating: "(?:ab|c)*", count: 3_000)) != nil)
        #expect(Pattern.refusal(String(repeating: "(?:ab|c)*", count: 300)) == nil)
    }

    @Test("is refused when groups are nested too deeply, long before the stack ends", arguments: [100, 101, 100_000])
    func nesting(_ depth: Int) {
        let source = String(repeating: "(?:(", count: depth / 2) + "a" + String(repeating: ")*b)+", count: depth / 2)
        let refusal = onSmallStack { Pattern.refusal(source)?.message }
        // The smaller depth may still be too large once expanded, but not too deep.
        #expect((refusal == "groups are nested too deeply") == (depth / 2 * 2 > 100), "\(depth)")
    }

    @Test("of the deepest lookarounds stays on the stack too")
    func deepLookaround() throws {
        let source = String(repeating: "(?=", count: 100) + "a" + String(repeating: ")", count: 100)
        let verdict = onSmallStack { (try? Pattern(source))?.verdict("a") }
        #expect(verdict == .match)
    }

    @Test("does not grow with classes that overlap")
    func classes() {
        let source = (0..<2_000).map { "[\\p{L}\\u{\(String(0xF0000 + 2 * $0, radix: 16))}]" }.joined()
        #expect(Pattern.refusal("(?:" + source + ")+")?.message == "the pattern has too many character classes")
    }

    @Test("is reported in bytes")
    func byteCount() throws {
        #expect(try Pattern("^abc$").byteCount < 100)
        let many = try Pattern("^(?:\\p{L}+ )+$")
        #expect((1_000..<100_000).contains(many.byteCount))
    }
}

private final class Job {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

/// Runs work on a thread with a stack of 512 KiB, the smallest that the program uses.
private func onSmallStack<Result>(_ body: @escaping () -> Result?) -> Result? {
    var result: Result?
    let job = Job { result = body() }
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    pthread_attr_init(attributes)
    pthread_attr_setstacksize(attributes, 512 * 1_024)
    var thread: pthread_t = 0
    let context = Unmanaged.passRetained(job).toOpaque()
    let code = pthread_create(
        &thread, attributes,
        { context in
            if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
    if code == 0 { pthread_join(thread, nil) }
    pthread_attr_destroy(attributes)
    return result
}
