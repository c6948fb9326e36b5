import ChatModel
import Locking

/// The figures of every endpoint that was attempted since the start.
final class FigureBoard: Sendable {
    private let entries = Lock<[EndpointID: EndpointFigures]>([:])

    func record(_ endpoint: EndpointID, at now: Timetoken, isDelivered: Bool, milliseconds: Int) {
        entries.withLock { entries in
            entries[endpoint, default: EndpointFigures()]
                .record(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        }
    }

    func figures(of endpoint: EndpointID) -> EndpointFigures? { entries.withLock { $0[endpoint] } }

    func forget(_ endpoint: EndpointID) { entries.withLock { $0[endpoint] = nil } }
}
