import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Adds an action to a message. An action of the type `reactions` is a reaction, and an action of the type `edited`
    /// is an edit. The type `deleted` with the value `deleted` marks the message as deleted, which can be undone.
    public func addMessageAction(
        channel: String, type actionType: String, value: String, messageTimetoken: Timetoken,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<any PubNubMessageAction, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            let message = ChatModel.Timetoken(messageTimetoken)
            let action = try await backend.addAction(actionType, value, to: message, in: channel)
            return PubNubMessageActionBase(action, on: message, in: channel)
        }
    }

    /// Removes an action from a message. When the action is an edit or a deletion, this undoes the change.
    public func removeMessageActions(
        channel: String, message timetoken: Timetoken, action actionTimetoken: Timetoken,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<(channel: String, message: Timetoken, action: Timetoken), any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.removeAction(
                ChatModel.Timetoken(actionTimetoken), from: ChatModel.Timetoken(timetoken), in: channel)
            return (channel: channel, message: timetoken, action: actionTimetoken)
        }
    }

    /// Reads the actions of a channel's messages, oldest first.
    ///
    /// - Parameters:
    ///   - page: the bounds of the actions' own timetokens, and the maximum number of actions, from 1 to 100; 100 by
    ///     default.
    ///   - completion: receives the actions, and the next older page; nil when there are no older actions.
    public func fetchMessageActions(
        channel: String, page: (any PubNubBoundedPage)? = nil,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: (
            (Result<(actions: [any PubNubMessageAction], next: (any PubNubBoundedPage)?), any Error>) -> Void
        )?
    ) {
        run(requestConfig, completion) { backend in
            var query = EventQuery(channel: channel)
            query.before = page?.start.map { ChatModel.Timetoken($0) } ?? .distantFuture
            query.after = page?.end.map { ChatModel.Timetoken(max($0, 1) - 1) } ?? .zero
            query.limit = min(max(page?.limit ?? 100, 1), 100)
            // The events name the messages whose actions changed within the bounds. The messages have the current
            // actions.
            query.types = ["reaction.added", "action.added", "message.updated", "message.deleted"]
            let events = try await backend.history(query)
            let changed = Set(events.items.compactMap { MessageActionEvent(LiveEvent($0))?.messageTimetoken })
            let oldest = events.items.last?.timetoken
            let first = events.hasMore ? oldest ?? .zero : query.after.next
            var actions: [PubNubMessageActionBase] = []
            for message in changed {
                for action in try await backend.actions(of: message, in: channel)
                where action.timetoken >= first && action.timetoken < query.before {
                    actions.append(PubNubMessageActionBase(action, on: message, in: channel))
                }
            }
            actions.sort { $0.actionTimetoken < $1.actionTimetoken }
            let next =
                events.hasMore
                ? oldest.flatMap { PubNubBoundedPageBase(start: $0.rawValue, end: page?.end, limit: page?.limit) } : nil
            return (actions: actions, next: next)
        }
    }
}

extension ChatModel.Timetoken {
    fileprivate var next: ChatModel.Timetoken { ChatModel.Timetoken(rawValue + 1) }
}

extension GatewayBackend {
    /// Returns the actions of a message; empty when the message no longer exists.
    func messageActions(of message: MessageState) async throws(ChatError) -> [any PubNubMessageAction] {
        do throws(ChatError) {
            return try await actions(of: message.timetoken, in: message.channel)
                .map { PubNubMessageActionBase($0, on: message.timetoken, in: message.channel) }
        } catch {
            guard error.code == .notFound || error.code == .gone else { throw error }
            return []
        }
    }
}
