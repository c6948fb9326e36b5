import Glibc

/// The operating system's statistics of this process (`/proc/self`, Linux).
struct ProcessStatistics {
    var residentBytes = 0
    var cpuSeconds = 0.0
    var openFiles = 0
    var openFilesMost = 0
    /// The start time in Unix seconds.
    var startedAt = 0.0

    /// Reads files of `/proc` and lists the open descriptors. The call blocks; do not make it on the loop.
    static func read() -> ProcessStatistics {
        var statistics = ProcessStatistics()
        statistics.residentBytes = residentPages() * sysconf(Int32(_SC_PAGESIZE))
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            statistics.cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        statistics.openFiles = entries(of: "/proc/self/fd")
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            statistics.openFilesMost = Int(clamping: limit.rlim_cur)
        }
        statistics.startedAt = startTime()
        return statistics
    }

    /// The start time in Unix seconds, from the 22nd field of `stat` (proc(5)), which counts clock ticks since the
    /// machine started. Zero when there is no such file.
    private static func startTime() -> Double {
        // The name of the program is in parentheses and may contain spaces.
        let fields = text(of: "/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        var (now, uptime) = (timespec(), timespec())
        guard fields.count > 19, let ticks = Double(fields[19]), clock_gettime(CLOCK_REALTIME, &now) == 0,
            clock_gettime(CLOCK_BOOTTIME, &uptime) == 0
        else { return 0 }
        let age = Double(uptime.tv_sec) - ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return Double(now.tv_sec) - age
    }

    /// The resident memory in pages, the second field of `statm` (proc(5)); zero when there is no such file.
    private static func residentPages() -> Int {
        let numbers = text(of: "/proc/self/statm").split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The number of entries of a directory. `.`, `..` and the descriptor that reads the directory are not counted.
    private static func entries(of folder: String) -> Int {
        guard let handle = opendir(folder) else { return 0 }
        defer { closedir(handle) }
        var count = 0
        while readdir(handle) != nil { count += 1 }
        return max(0, count - 3)
    }
}
