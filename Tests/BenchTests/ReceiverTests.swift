import Glibc
import Testing

@testable import Bench

@Suite("The receiver of webhooks") struct ReceiverTests {
    private let driver: Driver
    private let receiver: Receiver
    private let sender: Int32

    /// Two webhooks and one event for each of them.
    init() throws {
        var plan = BenchPlan(.webhooks)
        (plan.webhooks, plan.publishers, plan.warmUpSeconds) = (2, 1, 0)
        driver = try Driver(plan, streams: 2, hasPublishers: false, others: 4)
        driver.ledger.isOrdered = false
        for webhook in 0..<2 { driver.ledger.join(webhook, channel: 0) }
        driver.ledger.publish(0, 0)
        receiver = try Receiver(driver: driver)
        driver.onOther = { [unowned receiver] in receiver.serve(Int32($0)) }
        sender = try Target("http://127.0.0.1:\(receiver.port)").connect()
    }

    private func post(to webhook: Int) -> [UInt8] {
        var mark = [UInt8](repeating: 0, count: PayloadMark.length)
        mark.withUnsafeMutableBytes {
            PayloadMark(channel: 0, publisher: 0, sequence: 0, nanoseconds: 1).write(to: $0.baseAddress!)
        }
        let body = "{\"data\":\"\(String(decoding: mark, as: UTF8.self))\"}"
        return Array("POST /hook/\(webhook) HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    private func send(_ bytes: some Collection<UInt8>) -> Bool {
        Array(bytes).withUnsafeBytes { Sockets.send($0, to: sender) }
    }

    @Test("accepts posts that arrive in parts or several at once, each for its webhook")
    func pieces() throws {
        defer { close(sender) }
        let first = post(to: 0)
        #expect(send(first.prefix(70)))
        var turns = 0
        try driver.turn {
            turns += 1
            return turns > 3
        }
        #expect(receiver.posts == 0)
        #expect(send(first.dropFirst(70) + post(to: 1) + post(to: 1)))
        try driver.turn { receiver.posts == 3 }
        #expect(driver.ledger.delivered == 2 && driver.ledger.duplicates == 1)
        #expect(driver.ledger.isClean)
    }

    @Test("answers every post")
    func answers() throws {
        defer { close(sender) }
        #expect(send(post(to: 0) + post(to: 1)))
        try driver.turn { receiver.posts == 2 }
        var answers = ""
        while answers.split(separator: "200 OK").count < 3,
            Sockets.wait(for: POLLIN, on: sender, milliseconds: 5_000)
        {
            var bytes = [UInt8](repeating: 0, count: 1_000)
            let count = recv(sender, &bytes, bytes.count, 0)
            answers += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        #expect(answers.split(separator: "200 OK").count == 3)
    }
}
