import Glibc
import ParleyCommands

@main
struct Parley {
    static func main() async {
        // A gateway that disconnects in the middle of a request is an error to report, not a reason to end.
        signal(SIGPIPE, SIG_IGN)
        returnFreeMemory()
        exit(await ParleyProgram.run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Makes jemalloc return the memory of a burst to the system after about ten seconds. By itself it does so only
    /// during allocations, and thousands of waiting clients allocate nothing. Its background thread sleeps when there
    /// is nothing to return.
    private static func returnFreeMemory() {
        typealias Control =
            @convention(c) (
                UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
                Int
            ) -> Int32
        // Looked up by name because Swift cannot call it directly. Without it, memory is held longer.
        guard let address = dlsym(nil, "mallctl") else { return }
        let control = unsafeBitCast(address, to: Control.self)
        // One thread for all arenas: each thread would wake now and then in an idle gateway.
        var (most, isOn) = (1, true)
        _ = control("max_background_threads", nil, nil, &most, MemoryLayout<Int>.size)
        _ = control("background_thread", nil, nil, &isOn, MemoryLayout<Bool>.size)
    }
}
