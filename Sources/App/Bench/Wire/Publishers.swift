import CLinux
import Glibc
import Locking

/// The publishing connections. Each connection sends one request at a time.
final class Publishers {
    let acknowledgement = Histogram()
    /// The number of requests that the server has accepted.
    private(set) var accepted = 0
    /// The number of requests that the server has rejected.
    private(set) var refused = 0
    private(set) var lastRefusal = 0
    private(set) var underWay = 0
    /// The number of connections that no longer respond. It is unknown whether their last requests were executed.
    private(set) var broken = 0

    private struct Connection {
        var descriptor: Int32
        let request: UnsafeMutableRawPointer
        var channel = 0
        var sentAt: UInt64 = 0
        var isBusy = false
        var pending: [UInt8] = []
    }

    private let poller: Poller
    private let target: Target
    private let template: RequestTemplate
    private let ledger: Ledger
    private var connections: [Connection] = []
    private var free: [Int] = []
    private static let bufferBytes = 64 * 1024
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: bufferBytes, alignment: 16)

    init(plan: BenchPlan, target: Target, run: String, poller: Poller, ledger: Ledger) throws(BenchFailure) {
        (self.target, self.poller, self.ledger) = (target, poller, ledger)
        template = try RequestTemplate(
            "POST", plan.publishPath, plan: plan, target: target, run: run,
            headers: [("Content-Type", plan.contentType)], body: plan.body)
        for index in 0..<ledger.publishers {
            let request = UnsafeMutableRawPointer.allocate(byteCount: template.bytes.count, alignment: 16)
            template.bytes.withUnsafeBytes { request.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            connections.append(Connection(descriptor: -1, request: request))
            try connect(index)
            free.append(index)
        }
    }

    deinit {
        for connection in connections {
            if connection.descriptor >= 0 { Sockets.cut(connection.descriptor) }
            connection.request.deallocate()
        }
        buffer.deallocate()
    }

    var hasFree: Bool { !free.isEmpty }

    private func connect(_ index: Int) throws(BenchFailure) {
        let descriptor = target.connect()
        guard descriptor >= 0, Sockets.wait(for: POLLOUT, on: descriptor, milliseconds: 10_000),
            Sockets.isFine(descriptor)
        else {
            throw BenchFailure("\(target.authority) does not accept connections")
        }
        connections[index].descriptor = descriptor
        poller.add(descriptor, tag: UInt64(index), events: Poller.readable)
    }

    /// Publishes one event on a free connection.
    ///
    /// - Parameter due: the time at which the event was due. Latencies are measured from this time.
    func publish(channel: Int, due: UInt64) throws(BenchFailure) {
        guard let index = free.popLast() else { return }
        if connections[index].descriptor < 0 { try connect(index) }
        let mark = PayloadMark(
            channel: UInt32(channel), publisher: UInt32(index), sequence: ledger.next(channel, index),
            nanoseconds: due)
        template.write(mark, to: connections[index].request)
        ledger.publish(channel, index)
        underWay += 1
        connections[index].channel = channel
        connections[index].isBusy = true
        connections[index].sentAt = MonotonicTime.now.nanoseconds
        let request = UnsafeRawBufferPointer(start: connections[index].request, count: template.bytes.count)
        if !Sockets.send(request, to: connections[index].descriptor) { fail(index) }
    }

    /// Reads the responses that have arrived.
    func serve() { poller.wait(milliseconds: 0) { read(Int($0)) } }

    private func read(_ index: Int) {
        guard connections[index].descriptor >= 0 else { return }
        let count = recv(connections[index].descriptor, buffer, Self.bufferBytes, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { fail(index) }
            return
        }
        if connections[index].pending.isEmpty, parse(UnsafeRawBufferPointer(start: buffer, count: count), index) {
            return
        }
        connections[index].pending += UnsafeRawBufferPointer(start: buffer, count: count)
        let pending = connections[index].pending
        if pending.withUnsafeBytes({ parse($0, index) }) { connections[index].pending = [] }
    }

    /// Handles the response in the received bytes, if it is complete.
    ///
    /// - Returns: true when the response is complete.
    private func parse(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        guard let head = MessageHead(bytes), head.end(in: bytes) != nil else { return false }
        acknowledgement.add(MonotonicTime.now.nanoseconds - connections[index].sentAt)
        if (200..<300).contains(head.status) {
            accepted += 1
        } else {
            (refused, lastRefusal) = (refused + 1, head.status)
            ledger.withdraw(connections[index].channel, index)
        }
        if head.isClosing { disconnect(index) }
        release(index)
        return true
    }

    /// Handles a lost connection. It is unknown whether its pending request was executed.
    private func fail(_ index: Int) {
        disconnect(index)
        guard connections[index].isBusy else { return }
        broken += 1
        release(index)
    }

    private func disconnect(_ index: Int) {
        Sockets.cut(connections[index].descriptor)
        connections[index].descriptor = -1
    }

    private func release(_ index: Int) {
        connections[index].isBusy = false
        underWay -= 1
        free.append(index)
    }

    /// Resets the counters.
    func reset() {
        acknowledgement.reset()
        (accepted, refused) = (0, 0)
    }
}
