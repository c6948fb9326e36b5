import CCurl
internal import CLinux
internal import Glibc
internal import Locking

/// The libcurl multi handle, and the epoll set that waits for its sockets.
///
/// Used only on the loop thread. libcurl stores an unretained pointer to this object for its callbacks. The pointer
/// stays valid, because `deinit` releases libcurl's multi handle.
final class Multi {
    private let curl: UnsafeMutableRawPointer
    private let poll: Int32
    /// The state of each socket, indexed by the number of its descriptor.
    private var sockets: [Socket] = []
    /// The time at which libcurl must be called even without an event; `nil` when there is no such time.
    private(set) var timerDue: UInt64?

    private var hasEnded = false

    private struct Socket {
        /// The events that epoll watches for.
        var registered: UInt32 = 0
        /// The events that libcurl has requested; zero for none.
        var wanted: UInt32 = 0
        /// True when this client, and not libcurl, has opened the descriptor. The client is then notified when libcurl
        /// closes the descriptor.
        var isOurs = false
    }

    /// Creates the multi handle and the epoll set.
    ///
    /// - Parameters:
    ///   - eventFD: the eventfd that ends ``wait(until:)``. The eventfd belongs to no socket of libcurl.
    ///   - connections: the maximum number of open connections, including idle connections.
    init(eventFD: EventFD, connections: Int) throws(ClientError) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { throw ClientError.system("epoll_create1") }
        guard let curl = curl_multi_init() else {
            close(poll)
            throw ClientError(message: "not enough memory for libcurl")
        }
        self.curl = curl
        let context = Unmanaged.passUnretained(self).toOpaque()
        let edge = EPOLLIN.rawValue | EPOLLET.rawValue
        let codes = [
            shim_multi_set_long(curl, CURLMOPT_MAXCONNECTS, connections),
            shim_multi_set_long(curl, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING)),
            shim_multi_set_pointer(curl, CURLMOPT_SOCKETDATA, context),
            shim_multi_on_socket(curl) { _, descriptor, what, context, _ in
                context.map { Multi.from($0).watch(descriptor, what) }
                return 0
            },
            shim_multi_set_pointer(curl, CURLMOPT_TIMERDATA, context),
            shim_multi_on_timer(curl) { _, milliseconds, context in
                context.map { Multi.from($0).setTimer(milliseconds) }
                return 0
            },
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            throw ClientError(message: "libcurl rejected an option of the HTTP client")
        }
        guard control(EPOLL_CTL_ADD, eventFD.descriptor, edge) else { throw ClientError.system("epoll_ctl") }
    }

    deinit { end() }

    /// Closes all connections and releases all other resources. The object must not be used after this call.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        curl_multi_cleanup(curl)
        close(poll)
    }

    /// Initializes libcurl once in the process, at the first access. The value is the error message; `nil` after
    /// success.
    static let startFailure: String? = {
        let code = curl_global_init(shim_global_default)
        return code == CURLE_OK ? nil : String(cString: curl_easy_strerror(code))
    }()

    static func from(_ context: UnsafeMutableRawPointer) -> Multi {
        Unmanaged<Multi>.fromOpaque(context).takeUnretainedValue()
    }

    func add(_ handle: EasyHandle) -> CURLMcode { curl_multi_add_handle(curl, handle.curl) }

    /// Removes a handle from the multi handle. If its transfer is not finished, its connection is closed.
    func remove(_ handle: EasyHandle) { curl_multi_remove_handle(curl, handle.curl) }

    // MARK: Running

    /// Waits for events of sockets, for the eventfd, or for the deadline. Passes the events to libcurl.
    func wait(until deadline: UInt64?) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            let count = epoll_wait(poll, events.baseAddress, Int32(events.count), Self.milliseconds(until: deadline))
            // A negative count means EINTR, the only possible error here. It is treated as no events.
            for index in 0..<max(Int(count), 0) { dispatch(events[index]) }
        }
        runTimer()
    }

    /// Calls libcurl if its timer is due. libcurl then handles timeouts and starts transfers that were just added.
    func runTimer() {
        guard let due = timerDue, due <= MonotonicTime.now.nanoseconds else { return }
        timerDue = nil
        act(shim_socket_timeout, 0)
    }

    /// Returns the handle of the next finished transfer and its result; `nil` when there is none.
    func nextFinished() -> (EasyHandle, CURLcode)? {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(curl, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var context: UnsafeMutableRawPointer?
            shim_easy_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            let code = shim_message_result(message)
            if let context { return (Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue(), code) }
        }
        return nil
    }

    private func dispatch(_ event: epoll_event) {
        let descriptor = event.data.fd
        // The eventfd has no entry. Its only purpose is to end the wait.
        guard let socket = entry(descriptor), socket.registered != 0 else { return }
        guard socket.wanted != 0 else {
            // An idle connection that is readable was closed by the peer. libcurl detects this when it next selects the
            // connection.
            sockets[Int(descriptor)].registered = 0
            control(EPOLL_CTL_DEL, descriptor, 0)
            return
        }
        var what: Int32 = 0
        if event.events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { what |= CURL_CSELECT_IN }
        if event.events & EPOLLOUT.rawValue != 0 { what |= CURL_CSELECT_OUT }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { what |= CURL_CSELECT_ERR }
        act(descriptor, what)
    }

    private func act(_ descriptor: curl_socket_t, _ what: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(curl, descriptor, what, &running)
    }

    private static func milliseconds(until deadline: UInt64?) -> Int32 {
        guard let deadline else { return -1 }
        let now = MonotonicTime.now.nanoseconds
        guard deadline > now else { return 0 }
        // The time is rounded up, because the loop would otherwise wake repeatedly before the deadline.
        return Int32(clamping: (deadline - now + 999_999) / 1_000_000)
    }

    // MARK: Called by libcurl

    private func setTimer(_ milliseconds: Int) {
        timerDue = milliseconds < 0 ? nil : MonotonicTime.now.nanoseconds + UInt64(milliseconds) * 1_000_000
    }

    private func watch(_ descriptor: curl_socket_t, _ what: Int32) {
        guard descriptor >= 0 else { return }
        while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
        var socket = sockets[Int(descriptor)]
        defer { sockets[Int(descriptor)] = socket }
        socket.wanted =
            switch what {
            case CURL_POLL_IN: EPOLLIN.rawValue
            case CURL_POLL_OUT: EPOLLOUT.rawValue
            case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
            default: 0
            }
        if socket.wanted == socket.registered { return }
        if socket.wanted == 0 {
            // An idle connection stays in the epoll set, because it is usually needed again. This saves two system
            // calls per request. Descriptors that libcurl itself has opened, for instance in its resolver, are removed,
            // because the client is not notified when they are closed.
            if socket.isOurs, socket.registered == EPOLLIN.rawValue { return }
            control(EPOLL_CTL_DEL, descriptor, 0)
            socket.registered = 0
        } else if control(socket.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, socket.wanted) {
            socket.registered = socket.wanted
        }
    }

    /// Records a socket that this client has opened for libcurl (see `isOurs`).
    func own(_ descriptor: curl_socket_t) {
        while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
        sockets[Int(descriptor)] = Socket(isOurs: true)
    }

    /// Discards the state of a socket that is about to be closed. Closing it removes it from the epoll set.
    func forget(_ descriptor: curl_socket_t) {
        if entry(descriptor) != nil { sockets[Int(descriptor)] = Socket() }
    }

    private func entry(_ descriptor: curl_socket_t) -> Socket? {
        descriptor >= 0 && Int(descriptor) < sockets.count ? sockets[Int(descriptor)] : nil
    }

    @discardableResult
    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        return epoll_ctl(poll, operation, descriptor, &event) == 0
    }
}

/// An eventfd with which other threads wake the loop. The eventfd is watched with edge-triggered epoll, so the loop
/// need not read its value.
final class EventFD: Sendable {
    let descriptor: Int32

    /// Creates the eventfd.
    ///
    /// - Throws: ``ClientError`` when the system cannot create the descriptor.
    init() throws(ClientError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ClientError.system("eventfd") }
    }

    deinit { close(descriptor) }

    func raise() {
        // The write fails only when the counter is full. The loop wakes up in that case anyway.
        _ = eventfd_write(descriptor, 1)
    }
}
