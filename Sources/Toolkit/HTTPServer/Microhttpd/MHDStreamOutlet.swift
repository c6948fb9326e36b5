internal import CMicrohttpd
import Glibc

/// Sends a stream through an encrypted connection. libmicrohttpd keeps such a connection because it owns the TLS
/// session.
///
/// The library requests bytes when the client can receive more. While the stream has no unsent bytes, the connection is
/// suspended. This is slower than a stream on its own socket, but ``StreamConnection`` works in the same way.
final class MHDStreamOutlet: StreamOutlet {
    let descriptor: Int32 = -1
    private(set) var slot: UInt32 = 0
    private let core: ServerCore
    let peer: HTTPConnection
    private let isChunked: Bool
    private var place: SourceID?
    private var connection: StreamConnection?
    private var ending: StreamConnection.CloseReason?
    private var isSuspended = false
    private var isFreed = false

    init(exchange: Exchange) {
        core = exchange.core
        peer = exchange.peer
        isChunked = !exchange.isHTTP10
    }

    func attach(_ connection: StreamConnection) {
        self.connection = connection
        let place = core.loop.place(connection)
        self.place = place
        slot = place.slot
        peer.stream = connection
        core.move(peer, to: .working)
    }

    func makeResponse() -> OpaquePointer? {
        let context = Unmanaged.passRetained(self)  // released in the free callback, or below
        let response = MHD_create_response_from_callback(
            .max, 32 * 1024,
            { context, _, buffer, limit in
                Unmanaged<MHDStreamOutlet>.fromOpaque(context!)._withUnsafeGuaranteedRef {
                    $0.read(into: buffer!, limit)
                }
            }, context.toOpaque(),
            { Unmanaged<MHDStreamOutlet>.fromOpaque($0!).takeRetainedValue().freed() })
        if response == nil { context.release() }
        return response
    }

    private func read(into buffer: UnsafeMutablePointer<CChar>, _ limit: Int) -> Int {
        let count = connection?.pull(into: UnsafeMutableRawPointer(buffer), limit: limit) ?? 0
        if count > 0 { return count }
        if let ending {
            // -1 is MHD_CONTENT_READER_END_OF_STREAM. It is used only for a chunked body, whose end the client can
            // recognize.
            return ending == .finished && isChunked ? -1 : peer.endInReader(buffer)
        }
        isSuspended = true
        core.suspended(self)
        MHD_suspend_connection(peer.connection)
        return 0
    }

    func write(_ bytes: ArraySlice<UInt8>) -> StreamWrite {
        wake()
        return .accepted(0)
    }

    func wake() {
        guard isSuspended, !isFreed else { return }
        isSuspended = false
        core.resumed(self)
        MHD_resume_connection(peer.connection)
    }

    func close(_ reason: StreamConnection.CloseReason) {
        guard ending == nil else { return }
        ending = reason
        if let place { core.loop.displace(place) }
        place = nil
        connection = nil
        peer.stream = nil
        wake()
    }

    private func freed() {
        isFreed = true
        connection?.close(.peerDisconnected)
    }
}

extension MHDStreamOutlet: Suspendable {
    func abandon() {
        connection?.close(.drained)
        wake()
    }
}
