import ChatCore
public import ChatKit
public import ChatModel

extension EngineBackend {
    public func metadata(of channel: String) async throws(ChatError) -> [String: String] {
        try await access.metadata(of: channel).texts.plain
    }

    public func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String] {
        try await access.createMetadata(metadata.exact, of: channel, by: user).plain
    }

    public func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String] {
        try await access.updateMetadata(metadata.exact, adding: adding, of: channel, by: user).texts.plain
    }

    public func delete(metadata key: String?, of channel: String) async throws(ChatError) {
        try await access.deleteMetadata(key.map { [$0] }, of: channel, by: user)
    }

    public func counters(of channel: String) async throws(ChatError) -> [String: Int] {
        try await access.metacounters(of: channel).counters.mapValues { Int($0) }.plain
    }

    public func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int] {
        let counters = counters.exact.mapValues { Int64($0) }
        return try await access.createMetacounters(counters, of: channel, by: user).mapValues { Int($0) }.plain
    }

    public func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int] {
        let counters = counters.exact.mapValues { Int64($0) }
        return try await access.updateMetacounters(counters, change.mode, adding: adding, of: channel, by: user)
            .counters.mapValues { Int($0) }.plain
    }

    public func delete(counter key: String?, of channel: String) async throws(ChatError) {
        try await access.deleteMetacounters(key.map { [$0] }, of: channel, by: user)
    }
}

extension CounterChange {
    fileprivate var mode: CounterMode {
        switch self {
        case .set: .set
        case .increase: .inc
        case .decrease: .dec
        }
    }
}

extension Dictionary where Key == ExactText {
    /// The values with `String` keys. Keys that Swift considers equal are merged into one.
    fileprivate var plain: [String: Value] { .init(map { ($0.key.text, $0.value) }, uniquingKeysWith: { $1 }) }
}

extension Dictionary where Key == String {
    fileprivate var exact: [ExactText: Value] { .init(map { (ExactText($0.key), $0.value) }, uniquingKeysWith: { $1 }) }
}
