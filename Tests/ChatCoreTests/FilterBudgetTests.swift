import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("The cost of a filter") struct FilterBudgetTests {
    private static let digits = "0." + String(repeating: "9", count: 60_000)
    private static let limits = Limits()

    private static func repeated(_ part: String, _ separator: String, _ count: Int) -> String {
        Array(repeating: part, count: count).joined(separator: separator)
    }

    @Test(
        "is counted in the parts of its expression where it computes with one long number, which is read once",
        arguments: [
            repeated("data.a", "+", 1_000), repeated("data.a==1", "||", 600), repeated("data.a<0", "||", 600),
            repeated("(data.a>0)==false", "||", 400),
        ])
    func numbers(_ text: String) throws {
        let subject = FilterSubject(sampleEvent(data: #"{"a":"\#(Self.digits)"}"#))
        _ = try Filter(text).accepts(subject)
        #expect(!subject.isExhausted)
        #expect(subject.spent < 40_000)
        #expect(subject.longTextCount == 1)
    }

    @Test("is the same whatever was read for other filters before")
    func deterministic() throws {
        let event = sampleEvent(data: #"{"a":"\#(Self.digits)","b":["x","y"]}"#)
        let filters = try ["data.a LIKE '*9'", "data.a == 1", "data.b CONTAINS 'y'", "data.a CONTAINS '99'"].map {
            try Filter($0)
        }
        let alone = filters.map { filter in
            let subject = FilterSubject(event)
            _ = filter.accepts(subject)
            return subject.spent
        }
        let shared = FilterSubject(event)
        var before = 0
        for (filter, cost) in zip(filters, alone) {
            _ = filter.accepts(shared)
            #expect(shared.spent - before == cost)
            before = shared.spent
        }
    }

    @Test(
        "never exceeds its budget by more than one text, and past it the filter does not match",
        arguments: [
            repeated("data.a LIKE '*x*'", "||", 64) + " || true", "!(\(repeated("data.a LIKE data.a", "&&", 64)))",
            repeated("data.a CONTAINS 'x'", "||", 64) + " || true",
            "!(\(repeated("data.a == data.b", "&&", 400)))", repeated("data.list CONTAINS 'x'", "||", 64) + " || true",
            repeated("(data.a, data.b) CONTAINS 'x'", "||", 64) + " || true",
            repeated("data.russian CONTAINS data.a", "||", 64) + " || true",
            repeated("data.list LIKE '*x'", "||", 64) + " || true",
        ])
    func exhausted(_ text: String) throws {
        let list = "[" + Self.repeated("\"aaaa\"", ",", 8_000) + "]"
        let long = Self.digits
        let russian = String(repeating: "ж", count: 30_000)
        let event = sampleEvent(
            data: "{\"a\":\"\(long)\",\"b\":\"\(long)\",\"list\":\(list),\"russian\":\"\(russian)\"}")
        let subject = FilterSubject(event)
        let before = FilterStatistics.exhaustedCount
        #expect(try !Filter(text).accepts(subject))
        #expect(subject.isExhausted)
        #expect(subject.spent < Self.limits.filterSteps + 400_000)
        #expect(FilterStatistics.exhaustedCount > before)
        #expect(try Filter("data.b == data.a").accepts(subject), "the next filter has a budget of its own")
    }

    @Test("leaves room for as many searches as there may be in a usual text")
    func honest() throws {
        let text = String(repeating: "all work and no play ", count: 380)
        let subject = FilterSubject(sampleEvent(data: #"{"text":"\#(text)end"}"#))
        let words = Self.repeated("data.text CONTAINS 'makes'", " || ", 63)
        #expect(try Filter(words + " || data.text LIKE '*END'").accepts(subject))
        var limits = Limits()
        limits.filterSteps = 16_384
        #expect(try !Filter(words + " || data.text LIKE '*END'", limits: limits).accepts(subject))
    }

    @Test("finds members of lists without regard to case, whatever letters they have")
    func members() throws {
        let event = sampleEvent(data: #"{"tags":["Red","ÄRGER","\u212Aelvin",7,"8"],"k":"kelvin","n":"7"}"#)
        for text in [
            "data.tags CONTAINS 'red'", "data.tags CONTAINS 'ärger'", "data.tags CONTAINS data.k",
            "data.tags CONTAINS '7'", "data.tags CONTAINS 7", "data.tags CONTAINS 8", "data.tags CONTAINS data.n",
            "('a', data.k) CONTAINS 'KELVIN'", "data.k CONTAINS 'ELV'", "'1234' CONTAINS 23",
        ] {
            #expect(try Filter(text).accepts(event), "\(text)")
        }
        for text in ["data.tags CONTAINS 'rad'", "data.tags CONTAINS 'reds'", "data.tags CONTAINS 'arger'"] {
            #expect(try !Filter(text).accepts(event), "\(text)")
        }
    }
}
