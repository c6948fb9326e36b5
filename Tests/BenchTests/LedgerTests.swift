import Testing

@testable import Bench

@Suite("The ledger") struct LedgerTests {
    /// Two readers of one channel, and two publishers with three events each.
    private let ledger: Ledger

    init() {
        ledger = Ledger(readers: 2, channels: 1, publishers: 2)
        for reader in 0..<2 { ledger.join(reader, channel: 0) }
        for publisher in 0..<2 { for _ in 0..<3 { ledger.publish(0, publisher) } }
    }

    private func take(_ sequences: [UInt32], from publisher: UInt32, reader: Int) {
        for sequence in sequences {
            let mark = PayloadMark(channel: 0, publisher: publisher, sequence: sequence, nanoseconds: 100)
            _ = ledger.record(mark, reader: reader, channel: 0, at: 350)
        }
    }

    private func takeEverything() {
        for reader in 0..<2 {
            take([0, 1], from: 1, reader: reader)
            take([0, 1, 2], from: 0, reader: reader)
            take([2], from: 1, reader: reader)
        }
    }

    @Test("finds no fault when every reader got every event, whatever the order of publishers")
    func clean() {
        takeEverything()
        #expect(ledger.isClean && ledger.outstanding == 0)
        #expect(ledger.delivered == 12 && ledger.latency.nanoseconds(at: 0.5) == 250)
    }

    @Test("finds an event that one reader did not get")
    func loss() {
        take([0, 1, 2], from: 0, reader: 0)
        take([0, 1, 2], from: 1, reader: 0)
        take([0, 2], from: 0, reader: 1)
        take([0, 1, 2], from: 1, reader: 1)
        #expect(ledger.lost == 1 && ledger.duplicates == 0 && ledger.misordered == 0)
        #expect(!ledger.isClean)
    }

    @Test("finds the loss of the last event")
    func lossAtEnd() {
        take([0, 1], from: 0, reader: 0)
        #expect(ledger.lost == 10)
    }

    @Test("finds an event that comes twice")
    func duplicate() {
        takeEverything()
        take([1], from: 1, reader: 0)
        #expect(ledger.duplicates == 1 && ledger.lost == 0 && ledger.misordered == 0)
        #expect(!ledger.isClean)
    }

    @Test("distinguishes a late event from a lost or repeated one")
    func misorder() {
        take([1, 0, 2], from: 0, reader: 0)
        #expect(ledger.misordered == 1 && ledger.duplicates == 0 && ledger.delivered == 3)
        take([0], from: 0, reader: 0)
        #expect(ledger.misordered == 1 && ledger.duplicates == 1)
    }

    @Test("finds events of several publishers in another order than their ids say")
    func regression() {
        takeEverything()
        for id: UInt64 in [0, 5, 7] { ledger.record(id: id, reader: 0) }
        for id: UInt64 in [7, 9] { ledger.record(id: id, reader: 1) }
        #expect(ledger.isClean)
        ledger.record(id: 6, reader: 0)
        #expect(ledger.regressions == 1 && ledger.misordered == 0 && !ledger.isClean)
        ledger.record(id: 9, reader: 1)
        #expect(ledger.regressions == 2)
    }

    @Test(
        "reads the ids that are numbers, wherever frames have them",
        arguments: [
            ("id: 17\nevent: a\n", [17, 18, 19] as [UInt64?]), ("event: a\nid:17\r\n", [17, 18, 19]),
            ("id: 1:17\n", [nil, nil, nil]), ("", [nil, nil, nil]), ("id: x17\n", [nil, nil, nil]),
            ("id: 99999999999999999917\n", [nil, nil, nil]),
        ])
    func ids(head: String, wanted: [UInt64?]) {
        var found: [UInt64?] = []
        var ids = FrameIDs()
        var bytes: [UInt8] = Array("rest of a frame\n\n".utf8)
        var marks: [Int] = []
        for number in 17...19 {
            bytes += Array(head.replacing("17", with: "\(number)").utf8) + Array("data: ".utf8)
            marks.append(bytes.count)
            bytes += [UInt8](repeating: PayloadMark.sign, count: PayloadMark.length) + [0x0A, 0x0A]
        }
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var start = base
            for mark in marks {
                found.append(ids.number(before: base + mark, from: start))
                start = base + mark + PayloadMark.length
            }
        }
        #expect(found == wanted)
    }

    @Test("finds an event of another channel")
    func misdirected() {
        let mark = PayloadMark(channel: 7, publisher: 0, sequence: 0, nanoseconds: 0)
        #expect(!ledger.record(mark, reader: 0, channel: 0, at: 1))
        #expect(ledger.misdirected == 1 && !ledger.isClean)
    }

    @Test("ignores events from before a reader's start, and refused ones")
    func joining() {
        let late = Ledger(readers: 1, channels: 1, publishers: 1)
        late.publish(0, 0)
        late.join(0, channel: 0)
        #expect(late.outstanding == 0)
        late.publish(0, 0)
        late.withdraw(0, 0)
        #expect(late.outstanding == 0 && late.next(0, 0) == 1)
    }

    @Test("allows repetition and any order where delivery is at least once, but no loss")
    func atLeastOnce() {
        ledger.isOrdered = false
        takeEverything()
        take([1, 0], from: 0, reader: 0)
        #expect(ledger.isClean)
        ledger.publish(0, 0)
        #expect(!ledger.isClean)
    }
}
