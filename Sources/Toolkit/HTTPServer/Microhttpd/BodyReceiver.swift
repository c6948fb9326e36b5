/// Receives a request's body: decompresses it if necessary, counts it, and stops at the route's limit.
final class BodyReceiver {
    /// The result of offering bytes of the body.
    enum Verdict {
        case goOn
        /// The handler is behind: offer the rest again later.
        case wait
        case refuse(Problem)
    }

    private let limit: Int
    private var inflate: Inflate?
    private let trustsCoding: Bool
    private let pump: BodyPump?
    private unowned let core: ServerCore
    private(set) var collected: [UInt8] = []
    private var length = 0
    private(set) var wireLength = 0

    /// - Parameters:
    ///   - trustsCoding: true when a body that does not begin like compressed data is corrupt; false when it is taken
    ///     as plain.
    ///   - pump: the destination of a streamed body; `nil` collects the body.
    init(
        limit: Int, inflate: Inflate?, trustsCoding: Bool, pump: BodyPump?, expected: UInt64?, core: ServerCore
    ) {
        self.limit = limit
        self.inflate = inflate
        self.trustsCoding = trustsCoding
        self.pump = pump
        self.core = core
        if pump == nil, inflate == nil, let expected {
            // The announced length may be false: reserve at most 64 KiB before any bytes arrive.
            collected.reserveCapacity(min(Int(clamping: expected), 64 * 1024))
        }
    }

    deinit {
        core.releaseBodyMemory(collected.count)
    }

    /// Offers bytes from the wire. Returns the number of bytes consumed and what the caller has to do next.
    func offer(_ bytes: UnsafeRawBufferPointer) -> (used: Int, verdict: Verdict) {
        if pump?.isFull == true { return (0, .wait) }
        if !trustsCoding, wireLength == 0, let first = bytes.first, !Inflate.mayBegin(with: first) { inflate = nil }
        guard let inflate else {
            wireLength += bytes.count
            return (bytes.count, receive(bytes))
        }
        return offer(bytes, through: inflate)
    }

    private func offer(_ bytes: UnsafeRawBufferPointer, through inflate: Inflate) -> (used: Int, verdict: Verdict) {
        var used = 0
        while used < bytes.count || inflate.isPending {
            // When all input is consumed, the few KiB that zlib still holds must be emitted even if the pump is full.
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
                return (used, .refuse(.malformedRequest("The compressed body is corrupt")))
            }
            let verdict = piece.withUnsafeBytes { receive($0) }
            if case .refuse = verdict { return (used, verdict) }
        }
        return (used, .goOn)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        length += bytes.count
        guard length <= limit, wireLength <= limit + 1024 else { return .refuse(.bodyTooLong(limit: limit)) }
        if let pump {
            if !bytes.isEmpty { pump.push(Array(bytes)) }
            return .goOn
        }
        guard core.reserveBodyMemory(bytes.count) else {
            return .refuse(.overloaded("Too many request bodies are being received"))
        }
        collected.append(contentsOf: bytes)
        return .goOn
    }

    /// Ends the body. Returns the problem with it, or `nil` when it is complete and valid.
    func finish() -> Problem? {
        if let inflate, wireLength > 0, !inflate.isFinished {
            let problem = Problem.malformedRequest("The compressed body ends too early")
            pump?.fail(problem)
            return problem
        }
        pump?.finish()
        return nil
    }
}
