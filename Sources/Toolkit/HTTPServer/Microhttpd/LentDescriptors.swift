internal import CLinux
import Glibc

/// Keeps descriptors open that libmicrohttpd has only borrowed; see ``DeferredSocket``.
///
/// The library closes the descriptor of every connection that it drops, immediately after it has reported the end of the
/// connection (``ServerCore/connectionEnded(_:)``). Therefore this file supplies the function `close`, which the library
/// calls through the dynamic linker. For a descriptor that was taken back, `close` does nothing.
enum LentDescriptors {
    /// True when libmicrohttpd calls the `close` of this file, and the bytes that it reads are counted (``LongHeaders``).
    /// Otherwise no descriptor is lent.
    static let canReturn: Bool = {
        let own: @convention(c) (Int32) -> Int32 = closeDescriptor
        return LongHeaders.isPossible && dlsym(nil, "close") == unsafeBitCast(own, to: UnsafeMutableRawPointer.self)
    }()
}

/// Replaces the C library's `close` for the whole program; see ``LentDescriptors``. When libmicrohttpd is not running,
/// this function only makes the system call.
@c(close)
public func closeDescriptor(_ descriptor: Int32) -> Int32 {
    if let core = MHDErrorPages.runningCore, core.returnedDescriptor == descriptor, descriptor >= 0 {
        core.returnedDescriptor = -1
        return 0
    }
    return shim_close(descriptor)
}
