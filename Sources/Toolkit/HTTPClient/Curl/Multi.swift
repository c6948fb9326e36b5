import CCurl
internal import CLinux
internal import Glibc
internal import Locking

/// The libcurl multi handle and the epoll set that drives it.
///
/// Used only on the loop thread. libcurl keeps an unretained pointer to this object for its socket and timer callbacks
/// and for closing sockets; `deinit` ends libcurl's use of it.
final class Multi {
    private let curl: UnsafeMutableRawPointer
    private let poll: Int32
    /// The state of each descriptor, indexed by its number.
    private var sockets: [Socket] = []
    /// The time at which libcurl wants to be called even if nothing happens.
    private(set) var timerDue: UInt64?

    private var hasEnded = false

    private struct Socket {
        /// The events that epoll watches for.
        var registered: UInt32 = 0
        /// The events that libcurl wants; zero for none.
        var wanted: UInt32 = 0
        /// True when this client opened the descriptor and is therefore notified when it is closed.
        var isOurs = false
    }

    /// - Parameters:
    ///   - eventFD: reported by ``wait(until:)`` as an event of no socket.
    ///   - connections: the most open connections, in use or idle.
    init(eventFD: EventFD, connections: Int) throws(ClientError) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { throw ClientError.system("epoll_create1") }
        guard let curl = curl_multi_init() else {
            close(poll)
            throw ClientError(message: "no memory for a multi handle")
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
            throw ClientError(message: "multi handle refused its options")
        }
        guard control(EPOLL_CTL_ADD, eventFD.descriptor, edge) else { throw ClientError.system("epoll_ctl") }
    }

    deinit { end() }

    /// Closes the open connections, through the callbacks above, and all other resources. The object must not be used
    /// afterwards.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        curl_multi_cleanup(curl)
        close(poll)
    }

    /// Initializes libcurl once for the process. Contains the error message if that failed.
    static let startFailure: String? = {
        let code = curl_global_init(shim_global_default)
        return code == CURLE_OK ? nil : String(cString: curl_easy_strerror(code))
    }()

    static func from(_ context: UnsafeMutableRawPointer) -> Multi {
        Unmanaged<Multi>.fromOpaque(context).takeUnretainedValue()
    }

    func add(_ handle: EasyHandle) -> CURLMcode { curl_multi_add_handle(curl, handle.curl) }

    /// Removes a handle; a transfer that is not finished loses its connection.
    func remove(_ handle: EasyHandle) { curl_multi_remove_handle(curl, handle.curl) }

    // MARK: Running

    /// Waits for sockets, the eventfd or the deadline, and lets libcurl handle the events.
    func wait(until deadline: UInt64?) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            let count = epoll_wait(poll, events.baseAddress, Int32(events.count), Self.milliseconds(until: deadline))
            // A negative count is EINTR, the only error possible with a valid descriptor: nothing happened.
            for index in 0..<max(Int(count), 0) { dispatch(events[index]) }
        }
        runTimer()
    }

    /// Lets libcurl do what is due now: its timeouts, and the transfers that were just added.
    func runTimer() {
        guard let due = timerDue, due <= MonotonicTime.now.nanoseconds else { return }
        timerDue = nil
        act(shim_socket_timeout, 0)
    }

    /// Returns the next finished transfer and its result.
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
        // The eventfd has no entry, or no wanted events: its purpose was to end the wait.
        guard let socket = entry(descriptor), socket.registered != 0 else { return }
        guard socket.wanted != 0 else {
            // Readable while idle: the peer has closed the connection. libcurl finds that out when it next picks the
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
        // Rounded up: waking early would spin until the deadline.
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
            // An idle connection stays in the epoll set, because it is mostly needed again: this saves two system
            // calls per request. That is not possible for libcurl's own descriptors (its resolver's), because nothing
            // reports when they are closed.
            if socket.isOurs, socket.registered == EPOLLIN.rawValue { return }
            control(EPOLL_CTL_DEL, descriptor, 0)
            socket.registered = 0
        } else if control(socket.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, socket.wanted) {
            socket.registered = socket.wanted
        }
    }

    /// Records a socket that this client has opened for libcurl.
    func own(_ descriptor: curl_socket_t) {
        while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
        sockets[Int(descriptor)] = Socket(isOurs: true)
    }

    /// Forgets a socket that is about to be closed, which removes it from the epoll set.
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

/// An eventfd with which a task ends the loop's wait. Watched edge-triggered, so it never has to be read.
final class EventFD: Sendable {
    let descriptor: Int32

    /// - Throws: ``ClientError`` when the system has no descriptor left.
    init() throws(ClientError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ClientError.system("eventfd") }
    }

    deinit { close(descriptor) }

    func raise() {
        // The write fails only when the counter is about to overflow, and then the loop is being woken already.
        _ = eventfd_write(descriptor, 1)
    }
}
