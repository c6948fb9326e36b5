internal import CMicrohttpd
import Glibc

/// The callbacks through which libmicrohttpd calls Swift. All of them run on the loop's thread, inside `MHD_run`,
/// `MHD_add_connection` or `MHD_stop_daemon`.
///
/// The context of a daemon is its ``ServerCore``, which outlives the daemon. The context of a connection is its
/// ``HTTPConnection``, and the context of a request is its ``Exchange``. Connections and requests are retained when
/// they are stored as a context, and released in the callback that removes the context.
enum Callbacks {
    private static func core(_ context: UnsafeMutableRawPointer?) -> ServerCore {
        Unmanaged<ServerCore>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Called when a connection has begun or ended.
    static let connection: MHD_NotifyConnectionCallback = { context, connection, slot, code in
        guard let connection, let slot else { return }
        if code == .CONNECTION_NOTIFY_STARTED {
            guard let peer = core(context).connectionStarted(connection) else { return }
            slot.pointee = Unmanaged.passRetained(peer).toOpaque()  // released below
        } else if let raw = slot.pointee {
            slot.pointee = nil
            let peer = Unmanaged<HTTPConnection>.fromOpaque(raw).takeRetainedValue()  // retained above
            core(context).connectionEnded(peer)
        }
    }

    /// Called when a request line has arrived. Receives the complete target, before the library splits it at the `?`.
    static let requestLine:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            context, target, connection in
            guard let target, let connection, let raw = shim_connection_context(connection) else { return nil }
            let peer = Unmanaged<HTTPConnection>.fromOpaque(raw).takeUnretainedValue()
            let exchange = Exchange(core: core(context), peer: peer, connection: connection, target: target)
            // Ends the query before the library parses it. The library would store a record of each parameter in the
            // connection's memory. Many short parameters would fill that memory, and the request would get no response.
            // `Exchange` has copied the query and parses the copy.
            //
            // The write is defined behavior. `target` points into the connection's read buffer, which belongs to the
            // library and is writable; the callback runs before the library itself replaces the question mark with a
            // NUL. The byte after the mark is the first byte of the query, or the NUL that the library has written
            // after the target. Nothing reads the target again: the version and the header fields have pointers of
            // their own.
            if let mark = strchr(target, Int32(UInt8(ascii: "?"))) { mark[1] = 0 }
            return Unmanaged.passRetained(exchange).toOpaque()  // released in `completed`, or by `release`
        }

    /// Called several times for each request: once when the header fields are complete (`begin`), then with each part
    /// of the body (`upload`), and finally without bytes, when the body is complete and the response can be queued
    /// (`ready`). After a suspended connection is resumed, the library repeats the final call.
    static let access: MHD_AccessHandlerCallback = { _, connection, path, method, version, data, size, slot in
        guard let raw = slot?.pointee, let size else { return .NO }
        return Unmanaged<Exchange>.fromOpaque(raw)._withUnsafeGuaranteedRef { exchange in
            guard exchange.hasBegun else { return exchange.begin(path: path!, method: method!, version: version!) }
            return size.pointee > 0 ? exchange.upload(data!, size) : exchange.ready()
        }
    }

    /// Called when a request has ended, because its response was sent or its connection failed. Releases the exchange.
    static let completed: MHD_RequestCompletedCallback = { _, _, slot, code in
        guard let raw = slot?.pointee else { return }
        slot?.pointee = nil
        Unmanaged<Exchange>.fromOpaque(raw).takeRetainedValue().completed(code)  // retained in `requestLine`
    }

    /// Replaces the library's decoding of percent escapes. Leaves the text unchanged and returns its length, because
    /// the router decodes path segments itself.
    static let unescape:
        @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = {
            _, _, text in text.map { strlen($0) } ?? 0
        }

    /// Called when the library logs a message.
    static let log: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void = { context, message in
        if let message { core(context).log(message) }
    }
}
