import ChatKit
import ChatModel
import ChatRemote
import JSON

extension PubNub {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - customMessageType: a label of 3 to 50 characters; nil for none.
    ///   - shouldStore: false when history does not store the message; true or nil when history stores the message.
    ///   - storeTTL: the number of hours for which history stores the message; nil or 0 selects the app's retention.
    ///   - meta: metadata, which filters can read; nil for none.
    ///   - shouldCompress: true compresses the request.
    ///   - completion: receives the timetoken of the message.
    public func publish(
        channel: String, message: any JSONCodable, customMessageType: String? = nil, shouldStore: Bool? = nil,
        storeTTL: Int? = nil, meta: (any JSONCodable)? = nil, shouldCompress: Bool = false,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<Timetoken, any Error>) -> Void)?
    ) {
        let content = Result { (try message.encoded(), try meta?.encoded()) }
        run(requestConfig, completion) { backend in
            let (data, meta) = try content.get()
            var posting = OutgoingMessage(.message, on: channel, data: data.text)
            posting.meta = meta?.text
            posting.isStored = shouldStore ?? true
            posting.hours = posting.isStored ? storeTTL : nil
            return try await backend.post(posting, customMessageType, requestConfig, isCompressed: shouldCompress)
        }
    }

    /// Sends a small message (64 bytes of JSON by default) that is not stored.
    ///
    /// - Parameters:
    ///   - customMessageType: a label of 3 to 50 characters; nil for none.
    ///   - completion: receives the timetoken of the message.
    public func signal(
        channel: String, message: any JSONCodable, customMessageType: String? = nil,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<Timetoken, any Error>) -> Void)?
    ) {
        let content = Result { try message.encoded() }
        run(requestConfig, completion) { backend in
            let posting = OutgoingMessage(.signal, on: channel, data: try content.get().text)
            return try await backend.post(posting, customMessageType, requestConfig)
        }
    }

    /// Sends an event to webhooks only. Subscribers do not receive the event, and history does not store it.
    ///
    /// - Parameter completion: receives the timetoken of the event.
    public func fire(
        channel: String, message: any JSONCodable, meta: (any JSONCodable)? = nil,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<Timetoken, any Error>) -> Void)?
    ) {
        let content = Result { (try message.encoded(), try meta?.encoded()) }
        run(requestConfig, completion) { backend in
            let (data, meta) = try content.get()
            var posting = OutgoingMessage(.fire, on: channel, data: data.text)
            posting.meta = meta?.text
            return try await backend.post(posting, nil, requestConfig)
        }
    }
}

extension GatewayBackend {
    fileprivate func post(
        _ posting: OutgoingMessage, _ label: String?, _ options: PubNub.RequestConfiguration,
        isCompressed: Bool = false
    ) async throws -> UInt64 {
        if let label { try Names.check(label: label) }
        var posting = posting
        posting.customType = label
        posting.options.timeout = options.timeout.map { .seconds($0) }
        posting.options.retries = options.retries
        posting.options.isCompressed = isCompressed
        return try await post(posting).rawValue
    }
}
