import ArgumentParser
import Bench
import Glibc

/// The options of the scenario `growth` of `parley bench`.
struct GrowthOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The quantities that 'growth' measures, separated by commas, each optionally with its largest size. The \
            default is 1000 connections, a body of 65536 bytes, 100000 channels and events, and 1000 streams, patterns, \
            filters and webhooks.
            """, valueName: "name[=n],…"),
        transform: GrowthOptions.axes)
    var axes: [GrowthAxis] = []

    @Option(help: ArgumentHelp("The file for the curves of 'growth', as an SVG image.", valueName: "file"))
    var svg: String?

    /// Checks that the options suit the scenario.
    func check(_ scenario: BenchPlan.Scenario, _ requests: LoadRequests) throws {
        if scenario != .growth, !axes.isEmpty || svg != nil {
            throw ValidationError("--axes and --svg belong to the scenario 'growth'.")
        }
        if scenario == .growth, requests.isChanged {
            throw ValidationError(
                "'growth' has its own requests, stored and not stored; omit --durable and the options for paths and bodies."
            )
        }
    }

    /// - Parameter seconds: the duration of one sample; nil for half a second.
    func apply(to plan: inout BenchPlan, seconds: Int?) throws {
        if !axes.isEmpty { plan.axes = axes }
        if let seconds { plan.sampleSeconds = Double(seconds) }
    }

    private static func axes(_ text: String) throws -> [GrowthAxis] {
        var axes: [GrowthAxis] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let quantity = GrowthAxis.Quantity(rawValue: String(words[0])) else {
                let names = GrowthAxis.Quantity.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("'\(words[0])' is not a quantity; use one of \(names).")
            }
            guard words.count > 1 else {
                axes.append(GrowthAxis(quantity))
                continue
            }
            guard let largest = Int(words[1]) else {
                throw ValidationError("'\(words[1])' is not a size of '\(words[0])'; use a whole number.")
            }
            axes.append(GrowthAxis(quantity, largest: largest))
        }
        return axes
    }
}

/// The table that `parley bench growth` prints: a line for each size.
struct GrowthTable {
    private var table = Table([
        "quantity", "size", "not stored", "lowest to highest", "stored", "lowest to highest",
    ])
    private var shortfalls: [String] = []

    init(_ curves: [GrowthCurve]) {
        for curve in curves {
            for point in curve.points {
                table.add(
                    [curve.axis.quantity.rawValue, String(point.size)] + Self.cells(point.notStored)
                        + Self.cells(point.stored))
            }
            if let shortfall = curve.shortfall { shortfalls.append(shortfall) }
        }
    }

    private static func cells(_ cost: EmitCost) -> [String] {
        ["\(Self.decimal(cost.median)) µs", "\(Self.decimal(cost.minimum)) to \(Self.decimal(cost.maximum))"]
    }

    /// Formats a number with one decimal.
    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    func lines(_ style: Style) -> [String] {
        table.lines(style) + shortfalls.map { style.bad("not measured: ") + SanitizedText.safe($0) }
    }
}

/// A file that a command writes at its end. It is opened at the start, so that a wrong path does not waste the work.
struct OutputFile {
    private let descriptor: Int32
    private let path: String

    /// Opens the file and creates it if it does not exist. Its contents are kept until ``write(_:)``.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Replaces the contents of the file and closes it.
    func write(_ text: String) throws(CommandFailure) {
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        guard ftruncate(descriptor, 0) == 0 else { throw Self.failure(path) }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw Self.failure(path) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
