/// Where a ``Chat`` does its work: in this process on an engine, or on a gateway over HTTP.
///
/// Written with the nouns of `ChatModel`; everything a user of the library touches stands on these verbs, so that both
/// ways behave alike.
public protocol ChatBackend: RecordBackend, MessageBackend, ModerationBackend, PresenceBackend, ReceiptBackend,
    ValueBackend, GroupBackend
{
    /// Who acts. Every verb is done in this user's name.
    var user: String { get }

    /// The same place, seen by another user. Closing either closes both.
    func acting(as user: String) -> any ChatBackend

    /// Puts something into a channel; it is durable when this returns, or, passing, visible.
    func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken

    /// A page of a channel's kept events.
    func history(_ query: EventQuery) async throws(ChatError) -> Page<Event>

    /// How many kept events `history` would give in all.
    func count(_ query: EventQuery) async throws(ChatError) -> Int

    /// What happens from now on, or from a position on.
    func events(_ selection: EventSelection) -> LiveEvents

    /// Ends everything that is open. Idempotent.
    func close() async
}
