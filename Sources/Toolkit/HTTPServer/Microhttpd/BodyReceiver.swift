/// Receives a request's body. Decompresses the body if necessary, counts its bytes, and rejects it at the route's
/// limit.
struct BodyReceiver: ~Copyable {
    /// The next step after bytes of the body were offered to the receiver.
    enum Verdict {
        case goOn
        /// The handler has not read the earlier bytes yet. Offer the remaining bytes again later.
        case wait
        case refuse(Problem)
    }

    private let limit: Int
    private var inflate: Inflate?
    private let trustsCoding: Bool
    private let pump: BodyPump?
    private let core: ServerCore
    private(set) var collected: [UInt8]
    private var length = 0
    private(set) var wireLength = 0
    private let expected: UInt64?

    /// True when all bytes that the header announced have been received. False for a body of unknown length.
    var isComplete: Bool { expected.map { UInt64(wireLength) >= $0 } ?? false }

    /// Creates a receiver for the body of one request.
    ///
    /// - Parameters:
    ///   - trustsCoding: true to treat a body that does not begin like compressed data as corrupt; false to accept it
    ///     as uncompressed.
    ///   - pump: the destination of a streamed body; if it is `nil`, the body is collected in memory.
    init(
        limit: Int, inflate: Inflate?, trustsCoding: Bool, pump: BodyPump?, expected: UInt64?, core: ServerCore
    ) {
        self.limit = limit
        self.inflate = inflate
        self.trustsCoding = trustsCoding
        self.pump = pump
        self.expected = expected
        self.core = core
        var memory: [UInt8] = []
        if pump == nil, inflate == nil, let expected {
            // The `Content-Length` may be false, so at most 64 KiB are reserved before any bytes arrive.
            memory.reserveCapacity(min(Int(clamping: expected), 64 * 1024))
        }
        collected = memory
    }

    deinit {
        core.releaseBodyMemory(collected.count)
    }

    /// Processes received bytes of the body. Returns the number of bytes consumed and the caller's next step.
    mutating func offer(_ bytes: UnsafeRawBufferPointer) -> (used: Int, verdict: Verdict) {
        if pump?.isFull == true { return (0, .wait) }
        if !trustsCoding, wireLength == 0, let first = bytes.first, !Inflate.mayBegin(with: first) { inflate = nil }
        guard let inflate else {
            wireLength += bytes.count
            return (bytes.count, receive(bytes))
        }
        return offer(bytes, through: inflate)
    }

    private mutating func offer(
        _ bytes: UnsafeRawBufferPointer, through inflate: Inflate
    ) -> (used: Int, verdict: Verdict) {
        var used = 0
        while used < bytes.count || inflate.isPending {
            // When all input is consumed, zlib may still hold a few KiB of output. They are passed on even if the pump
            // is full.
            if pump?.isFull == true, used < bytes.count { return (used, .wait) }
            var piece: [UInt8] = []
            let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
            do {
                // One byte beyond the limit is enough to know that the body is too large.
                let most = min(limit - length + 1, BodyPump.capacity)
                let count = try inflate.inflate(rest, limit: most, into: &piece)
                used += count
                wireLength += count
            } catch {
                return (used, .refuse(.malformedRequest("The compressed body cannot be decompressed")))
            }
            let verdict = piece.withUnsafeBytes { receive($0) }
            if case .refuse = verdict { return (used, verdict) }
        }
        return (used, .goOn)
    }

    @inline(__always)  // Saves a call for each piece of a body that is not compressed.
    private mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        length += bytes.count
        guard length <= limit, wireLength <= limit + 1024 else { return .refuse(.bodyTooLong(limit: limit)) }
        if let pump {
            if !bytes.isEmpty { pump.push(Array(bytes)) }
            return .goOn
        }
        guard core.reserveBodyMemory(bytes.count) else {
            return .refuse(.overloaded("Too many request bodies are being received; try again"))
        }
        collected.append(contentsOf: bytes)
        return .goOn
    }

    /// Ends the body. Returns the problem with the body; `nil` when the body is complete and valid.
    func finish() -> Problem? {
        if let inflate, wireLength > 0, !inflate.isFinished {
            let problem = Problem.malformedRequest("The compressed body is incomplete")
            pump?.fail(problem)
            return problem
        }
        pump?.finish()
        return nil
    }
}
