/// Takes a request's body in: decompressed if need be, counted, and never more of it than the route allows.
final class BodyReceiver {
    /// What to do after some of the body was offered.
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
    ///   - trustsCoding: whether a body that does not begin as a compressed one is corrupt, and not plain.
    ///   - pump: where a streamed body goes; `nil` collects it.
    init(
        limit: Int, inflate: Inflate?, trustsCoding: Bool, pump: BodyPump?, expected: UInt64?, core: ServerCore
    ) {
        self.limit = limit
        self.inflate = inflate
        self.trustsCoding = trustsCoding
        self.pump = pump
        self.core = core
        if pump == nil, inflate == nil, let expected {
            // A promise is cheap: no more than a page or two of memory before there is something to put there.
            collected.reserveCapacity(min(Int(clamping: expected), 64 * 1024))
        }
    }

    deinit {
        core.releaseBodyMemory(collected.count)
    }

    /// Offers bytes from the wire; says how many of them are dealt with.
    func offer(_ bytes: UnsafeRawBufferPointer) -> (used: Int, verdict: Verdict) {
        if pump?.isFull == true { return (0, .wait) }
        if !trustsCoding, wireLength == 0, let first = bytes.first, !Inflate.mayBegin(with: first) { inflate = nil }
        guard let inflate else {
            wireLength += bytes.count
            return (bytes.count, take(bytes))
        }
        return offer(bytes, through: inflate)
    }

    private func offer(_ bytes: UnsafeRawBufferPointer, through inflate: Inflate) -> (used: Int, verdict: Verdict) {
        var used = 0
        while used < bytes.count || inflate.isPending {
            // Once all input is used the few KiB that zlib still holds must go somewhere.
            if pump?.isFull == true, used < bytes.count { return (used, .wait) }
            var piece: [UInt8] = []
            let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
            do {
                // One byte more than allowed is enough to know.
                let room = min(limit - length + 1, BodyPump.capacity)
                let count = try inflate.inflate(rest, room: room, into: &piece)
                used += count
                wireLength += count
            } catch {
                return (used, .refuse(.malformedRequest("The compressed body is corrupt")))
            }
            let verdict = piece.withUnsafeBytes { take($0) }
            if case .refuse = verdict { return (used, verdict) }
        }
        return (used, .goOn)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Verdict {
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

    /// The body has ended; says what is wrong with it, if anything is.
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
