import Glibc

/// What the operating system says about this process (`/proc/self`, Linux).
struct ProcessFigures {
    var residentBytes = 0
    var cpuSeconds = 0.0
    var openFiles = 0

    /// Reads files of `/proc` and lists the open descriptors: not for a thread that others wait for.
    static func read() -> ProcessFigures {
        var figures = ProcessFigures()
        figures.residentBytes = residentPages() * sysconf(Int32(_SC_PAGESIZE))
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            figures.cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        figures.openFiles = entries(of: "/proc/self/fd")
        return figures
    }

    /// The second number of `statm` (proc(5)); zero where there is no such file.
    private static func residentPages() -> Int {
        guard let file = fopen("/proc/self/statm", "re") else { return 0 }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = fread(&buffer, 1, buffer.count, file)
        let numbers = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }

    /// Without `.` and `..`, and without the descriptor that reading the folder takes.
    private static func entries(of folder: String) -> Int {
        guard let handle = opendir(folder) else { return 0 }
        defer { closedir(handle) }
        var count = 0
        while readdir(handle) != nil { count += 1 }
        return max(0, count - 3)
    }
}
