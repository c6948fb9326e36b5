public import ChatModel

/// Texts and counters that an app keeps with channels of a ``ChatBackend``. What writes answers with what it wrote.
public protocol ValueBackend: Sendable {
    func metadata(of channel: String) async throws(ChatError) -> [String: String]
    /// - Throws: `.conflict` when there is one of the keys already.
    func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String]
    /// - Parameter adding: makes the keys that are not there; they are left out otherwise.
    func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String]
    /// - Parameter key: nil: all.
    func delete(metadata key: String?, of channel: String) async throws(ChatError)

    func counters(of channel: String) async throws(ChatError) -> [String: Int]
    /// - Throws: `.conflict` when there is one of the keys already.
    func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int]
    /// - Parameter adding: makes the keys that are not there, counting from 0; they are left out otherwise.
    func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int]
    /// - Parameter key: nil: all.
    func delete(counter key: String?, of channel: String) async throws(ChatError)
}

/// What becomes of a counter with the number that is given.
public enum CounterChange: Sendable { case set, increase, decrease }
