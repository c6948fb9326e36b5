import ChatCore
import ChatModel
import ChatSupport
import TestSupport
import Testing

@Suite("Trace contexts") struct TraceContextTests {
    private static let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test("read and print the field of the specification")
    func roundTrip() throws {
        let context = try #require(TraceContext(traceparent: Self.text, state: "a=1,b=2"))
        #expect(context.isSampled && context.traceparent == Self.text && context.state == "a=1,b=2")
        let stored = try #require(TraceContext(stored: context.stored))
        #expect(stored.traceparent == Self.text && stored.state == "a=1,b=2")
        let child = context.child(255)
        #expect(child.traceparent == "00-0af7651916cd43dd8448eb211c80319c-00000000000000ff-01")
    }

    @Test(
        "treat an invalid field as missing",
        arguments: [
            "", "00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ])
    func invalid(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test("read the known parts of a later version")
    func laterVersion() throws {
        let context = try #require(TraceContext(traceparent: "01" + Self.text.dropFirst(2) + "-what-follows"))
        #expect(context.traceparent == Self.text)
    }

    @Test("leave out a state that is too long, or could forge a header")
    func states() {
        #expect(TraceContext(traceparent: Self.text, state: String(repeating: "a", count: 513))?.state == nil)
        #expect(TraceContext(traceparent: Self.text, state: "a=1\r\nX: y")?.state == nil)
    }

    @Test("record up to a hundred sampled traces a second, and pass on the rest")
    func flood() throws {
        let clock = ManualClock()
        let tracer = Tracer(ratio: 0, clock: clock.wallClock)
        let incoming = try #require(TraceContext(traceparent: Self.text, state: "a=1"))
        let contexts = (0..<150).map { _ in tracer.context(following: incoming) }
        #expect(contexts.count { $0?.isSampled == true } == 100)
        let last = try #require(contexts.last ?? nil)
        #expect(last.traceparent == Self.text.dropLast() + "0" && last.state == "a=1")
        #expect(tracer.context(following: nil) == nil)
        clock.advance(by: .seconds(1))
        #expect(tracer.context(following: incoming)?.isSampled == true)
        let all = Tracer(ratio: 1, clock: clock.wallClock)
        #expect((0..<150).allSatisfy { _ in all.context(following: incoming)?.isSampled == true })
    }
}
