import HTTPServer
import TestSupport
import Testing

@Suite("The tests' event stream parser") struct StreamParserTests {
    private func parse(_ text: String) -> [EventStreamParser.Item] {
        var parser = EventStreamParser()
        return parser.parse(Array(text.utf8))
    }

    private func event(
        _ data: String, id: String = "", hasID: Bool = false, type: String = "message", retry: Int? = nil
    ) -> EventStreamParser.Item {
        .event(.init(lastEventID: id, hasID: hasID, type: type, data: data, retry: retry))
    }

    @Test("reads the examples of the standard")
    func standard() {
        #expect(parse("data: YHOO\ndata: +2\ndata: 10\n\n") == [event("YHOO\n+2\n10")])
        #expect(
            parse(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n")
                == [
                    .comment(" test stream"), event("first event", id: "1", hasID: true),
                    event("second event", hasID: true), event(" third event"),
                ])
        #expect(parse("data\n\ndata\ndata\n\ndata:") == [event(""), event("\n")])
        #expect(parse("data:test\n\ndata: test\n\n") == [event("test"), event("test")])
    }

    @Test("reads the published vector the same in parts of any size")
    func vector() {
        let text = """
            retry: 2000
            id: 1:7:42
            event: message.created
            data: {"channel":"general","text":"h\u{e9}llo"}

            :
            id: 1:7:43
            event: message.created
            data: line1
            data: line2
            data:\u{20}
            data: after-blank


            """
        let expected = [
            event(
                #"{"channel":"general","text":"h\#u{e9}llo"}"#, id: "1:7:42", hasID: true, type: "message.created",
                retry: 2000), .comment(""),
            event("line1\nline2\n\nafter-blank", id: "1:7:43", hasID: true, type: "message.created"),
        ]
        for size in [1, 2, 3, 7, 1000] {
            var parser = EventStreamParser()
            var items: [EventStreamParser.Item] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                items += parser.parse(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(items == expected)
        }
    }

    @Test("accepts CR, LF and CRLF as line ends, and ignores what the standard ignores")
    func lines() {
        #expect(parse("data:a\r\ndata:b\rdata:c\n\r\n") == [event("a\nb\nc")])
        #expect(parse("\u{FEFF}data:a\n\n") == [event("a")])
        #expect(parse("id:1\u{0}\nretry:1x\nnonsense:1\ndata:a\n\n") == [event("a")])
        #expect(parse("event:x\n\ndata:a\n\n") == [event("a")])
        #expect(parse("id:7\n\ndata:a\n\n") == [event("a", id: "7")])
    }

    @Test("gives back what the gateway's own blocks were made of")
    func roundTrip() throws {
        let block = try #require(
            ServerSentEvent(id: "42", event: "order.paid", data: Array("a\r\nb\rc\n".utf8), retryMilliseconds: 5))
        var parser = EventStreamParser()
        let items = parser.parse(block.bytes)
        #expect(items == [event("a\nb\nc\n", id: "42", hasID: true, type: "order.paid", retry: 5)])
        #expect(parser.isBetweenBlocks)
    }
}
