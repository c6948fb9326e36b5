import Glibc
import ParleyCommands

@main
struct Parley {
    static func main() async {
        // SIGPIPE is ignored, because a connection that breaks during a request must be reported and must not end the
        // program.
        signal(SIGPIPE, SIG_IGN)
        returnFreeMemory()
        exit(await ParleyProgram.run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Makes jemalloc return unused memory to the system after about ten seconds, in a background thread. Without the
    /// thread, jemalloc returns memory only during allocations, and a gateway whose clients only wait allocates
    /// nothing. The thread sleeps while there is no memory to return.
    private static func returnFreeMemory() {
        typealias Control =
            @convention(c) (
                UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
                Int
            ) -> Int32
        // The function is looked up by name, because Swift cannot call it directly. Without it, unused memory is
        // returned later.
        guard let address = dlsym(nil, "mallctl") else { return }
        let control = unsafeBitCast(address, to: Control.self)
        // One thread serves all arenas, because each further thread would also wake up in an idle gateway.
        var (most, isOn) = (1, true)
        _ = control("max_background_threads", nil, nil, &most, MemoryLayout<Int>.size)
        _ = control("background_thread", nil, nil, &isOn, MemoryLayout<Bool>.size)
    }
}
