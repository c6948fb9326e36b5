import Glibc
import ParleyCommands

@main
struct Parley {
    static func main() async {
        // A gateway that goes away in the middle of a request is an error to report, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        giveMemoryBack()
        exit(await ParleyProgram.run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Has jemalloc return what a burst has left behind to the system, some ten seconds later. By itself it does so only while
    /// memory is asked for, and thousands of clients that came at once and wait now ask for none. Its thread sleeps when
    /// there is nothing to return.
    private static func giveMemoryBack() {
        typealias Control =
            @convention(c) (
                UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
                Int
            ) -> Int32
        // By its name, as Swift has no door to it; without it memory is kept longer.
        guard let address = dlsym(nil, "mallctl") else { return }
        let control = unsafeBitCast(address, to: Control.self)
        // One for all: each would wake now and then in a gateway that does nothing.
        var (most, isOn) = (1, true)
        _ = control("max_background_threads", nil, nil, &most, MemoryLayout<Int>.size)
        _ = control("background_thread", nil, nil, &isOn, MemoryLayout<Bool>.size)
    }
}
