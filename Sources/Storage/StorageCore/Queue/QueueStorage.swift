package import ChatModel

/// The storage operations that a ``DeliveryScheduler`` needs.
///
/// The storage runs its changes of the queue one after the other. After each commit, and before the next change, it
/// reports the changed rows to the scheduler, so that memory never contains a row in an older state than the database.
package protocol QueueStorage: Sendable {
    /// The nanoseconds of the clock of leases.
    func uptime() -> UInt64
    /// Arranges a call of ``DeliveryScheduler/serve(everyone:)`` at `moment` on the machine's uptime clock, unless an
    /// earlier call is arranged.
    func callScheduler(at moment: UInt64)
    /// Records finished attempts in one commit, calls ``DeliveryScheduler/complete(_:)``, and completes each element.
    func record(_ finished: [FinishedAttempts], scheduler: DeliveryScheduler)
    /// Reads the earliest due deliveries of a lane, and calls ``DeliveryScheduler/replace(_:with:isComplete:)``, or
    /// ``DeliveryScheduler/fetchFailed(_:)`` after a failure.
    func requestFetch(of lane: Int64, scheduler: DeliveryScheduler)
    /// Like ``requestFetch(of:scheduler:)``, but waits for the result and throws the failure.
    func fetch(_ lane: Int64, scheduler: DeliveryScheduler) async throws(ChatError)
    /// Records expired leases as failed attempts, and calls ``DeliveryScheduler/complete(_:)``, or
    /// ``DeliveryScheduler/cancelRecording(of:)`` after a failure.
    func requestExpiry(of leases: [ExpiredLease], scheduler: DeliveryScheduler)
    /// Like ``requestExpiry(of:scheduler:)``, but waits for the result and throws the failure.
    func expire(_ leases: [ExpiredLease], scheduler: DeliveryScheduler) async throws(ChatError)
    /// Reads the data of these leased deliveries. The result contains no lease for a delivery that is no longer waiting,
    /// or whose data the planner has passed in memory (``DeliveryScheduler/Grant/planned``).
    func leases(_ grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: Lease]
    /// For each leased delivery with ``DeliveryScheduler/Grant/freeCapacity``, reads the deliveries that follow it in
    /// the required order and may be part of the same attempt.
    func followers(of grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: [DueItem]]
}
