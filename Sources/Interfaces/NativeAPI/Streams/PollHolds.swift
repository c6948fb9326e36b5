import HTTPServer

/// Polls that wait for something to happen, each until its beat has come. Belongs to `LiveStreams`.
struct PollHolds {
    private var waiting: [UInt64: (due: UInt64, continuation: CheckedContinuation<Void, Never>)] = [:]
    /// The numbers of those due at a beat; some may have gone already.
    private var dueAt: [UInt64: [UInt64]] = [:]

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }

    mutating func add(_ number: UInt64, until due: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
        waiting[number] = (due, continuation)
        dueAt[due, default: []].append(number)
    }

    /// Ends one hold; without effect when it is over.
    mutating func release(_ number: UInt64) {
        waiting.removeValue(forKey: number)?.continuation.resume()
    }

    mutating func release(at beat: UInt64) {
        for number in dueAt.removeValue(forKey: beat) ?? [] { release(number) }
    }

    mutating func releaseAll() {
        for hold in waiting.values { hold.continuation.resume() }
        waiting = [:]
        dueAt = [:]
    }
}

extension LiveStreams {
    /// Waits for so many seconds; ends early when the task is cancelled or the gateway drains.
    func hold(seconds: UInt64) async {
        guard !isDraining, !Task.isCancelled else { return }
        counters.pollsHeld += 1
        let number = counters.pollsHeld
        startBeating()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Cancelled between the question above and here: the handler found nothing to release.
                if Task.isCancelled { return continuation.resume() }
                holds.add(number, until: beats.now + seconds, continuation)
            }
        } onCancel: {
            loop.post { self.assumeIsolated { $0.holds.release(number) } }
        }
    }
}
