import CLinux
import Glibc

/// The resource use of the measured processes, read from the kernel.
struct ProcessMeter {
    let processes: [Int32]

    /// The CPU time of the processes in nanoseconds: user and system time of all current and ended threads.
    var cpuNanoseconds: UInt64 {
        processes.reduce(0) { $0 + Self.cpuNanoseconds(of: $1) }
    }

    /// The part of ``cpuNanoseconds`` that was spent outside of the kernel.
    var userNanoseconds: UInt64 {
        processes.reduce(0) { sum, process in
            let fields = Self.text("/proc/\(process)/stat").split(separator: " ")
            // Field 14 is the user time (proc(5)). The name in field 2 may contain spaces, so the fields are counted
            // from its end.
            guard let name = fields.lastIndex(where: { $0.hasSuffix(")") }), fields.count > name + 12 else {
                return sum
            }
            let ticks = UInt64(fields[name + 12]) ?? 0
            return sum + ticks * 1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// The private memory of the processes and their share of shared memory, in bytes. 0 when the system does not
    /// permit reading it, for example for processes of another user.
    var memoryBytes: Int {
        processes.reduce(0) { sum, process in
            let line = Self.text("/proc/\(process)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
            let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return sum + kibibytes * 1_024
        }
    }

    private static func cpuNanoseconds(of process: Int32) -> UInt64 {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16 * 1_024)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Checks that the measured processes exist.
    ///
    /// - Throws: ``BenchFailure`` when an id does not belong to a process.
    func check() throws(BenchFailure) {
        for process in processes where Self.cpuNanoseconds(of: process) == 0 {
            throw BenchFailure("no process has the id \(process)")
        }
    }
}
