import Glibc

/// A drawing of growth curves: one SVG image with a chart for each curve.
///
/// The image contains no script and no external reference. Its colours follow the reader's colour scheme.
public struct GrowthChart {
    /// The image, as SVG 1.1 with CSS.
    public let svg: String

    private static let columns = 2
    private static let panel = (width: 440.0, height: 260.0)
    private static let header = 64.0

    /// Draws the curves in their order, two in a row.
    public init(_ curves: [GrowthCurve]) {
        let rows = (curves.count + Self.columns - 1) / Self.columns
        let width = Int(Self.panel.width) * Self.columns
        let height = Int(Self.header + Self.panel.height * Double(rows))
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) \#(height)" width="\#(width)" height="\#(height)" role="img">"#,
            "<title>CPU time of the gateway for one emit</title>",
            Self.style,
            #"<text class="title" x="16" y="24">CPU time of the gateway for one emit</text>"#,
            #"<g class="series plain"><path d="M16 44H40"/><circle cx="28" cy="44" r="4"/></g>"#,
            #"<text x="48" y="48">not stored</text>"#,
            #"<g class="series stored"><path d="M136 44H160"/><rect x="144" y="40" width="8" height="8"/></g>"#,
            #"<text x="168" y="48">stored</text>"#,
            #"<text class="quiet" x="240" y="48">points: medians; vertical lines: lowest and highest sample</text>"#,
        ]
        for (index, curve) in curves.enumerated() {
            let x = Self.panel.width * Double(index % Self.columns)
            let y = Self.header + Self.panel.height * Double(index / Self.columns)
            lines.append(#"<g transform="translate(\#(Self.decimal(x)) \#(Self.decimal(y)))">"#)
            lines += Self.chart(of: curve)
            lines.append("</g>")
        }
        lines.append("</svg>\n")
        svg = lines.joined(separator: "\n")
    }

    private static let style = """
        <style>
        text { font: 12px system-ui, sans-serif; fill: #1f2328; }
        .title { font-size: 14px; font-weight: 600; }
        .quiet { fill: #59636e; }
        .end { text-anchor: end; }
        .middle { text-anchor: middle; }
        .grid { stroke: #d1d9e0; fill: none; }
        .series path { fill: none; stroke-width: 2; }
        .plain path { stroke: #0969da; } .plain circle { fill: #0969da; }
        .stored path { stroke: #bc4c00; } .stored rect { fill: #bc4c00; }
        .series .spread { stroke-width: 1; }
        @media (prefers-color-scheme: dark) {
        text { fill: #f0f6fc; }
        .quiet { fill: #9198a1; }
        .grid { stroke: #3d444d; }
        .plain path { stroke: #58a6ff; } .plain circle { fill: #58a6ff; }
        .stored path { stroke: #f0883e; } .stored rect { fill: #f0883e; }
        }
        </style>
        """
}

// MARK: - One chart

extension GrowthChart {
    /// The area of the data in a panel.
    private static let area = (left: 56.0, top: 48.0, right: 416.0, bottom: 200.0)

    private static func chart(of curve: GrowthCurve) -> [String] {
        let texts = curve.axis.quantity.texts
        let middle = decimal((area.left + area.right) / 2)
        var lines = [
            #"<text class="title" x="16" y="20">\#(escaped(texts.title))</text>"#,
            #"<text class="quiet" x="16" y="38">µs of CPU</text>"#,
            #"<text class="quiet middle" x="\#(middle)" y="236">\#(escaped(texts.label))</text>"#,
        ]
        if let shortfall = curve.shortfall { lines.append("<desc>\(escaped(shortfall))</desc>") }
        guard !curve.points.isEmpty else {
            return lines + [#"<text class="quiet middle" x="\#(middle)" y="124">not measured</text>"#]
        }
        let highest = curve.points.reduce(0) { max($0, $1.notStored.maximum, $1.stored.maximum) }
        let vertical = LinearScale(upTo: highest, from: area.bottom, to: area.top)
        for tick in vertical.ticks {
            let y = decimal(vertical.position(of: tick))
            lines.append(#"<path class="grid" d="M\#(decimal(area.left)) \#(y)H\#(decimal(area.right))"/>"#)
            lines.append(
                #"<text class="quiet end" x="\#(decimal(area.left - 8))" y="\#(y)" dy="4">\#(number(tick))</text>"#)
        }
        let horizontal = LogarithmicScale(curve.points.map(\.size), from: area.left + 12, to: area.right - 12)
        for point in curve.points {
            let x = decimal(horizontal.position(of: point.size))
            lines.append(#"<text class="quiet middle" x="\#(x)" y="218">\#(number(Double(point.size)))</text>"#)
        }
        lines += series("plain", "not stored", curve.points.map { ($0.size, $0.notStored) }, horizontal, vertical)
        lines += series("stored", "stored", curve.points.map { ($0.size, $0.stored) }, horizontal, vertical)
        return lines
    }

    private static func series(
        _ name: String, _ title: String, _ points: [(size: Int, cost: EmitCost)], _ horizontal: LogarithmicScale,
        _ vertical: LinearScale
    ) -> [String] {
        let places = points.map { size, cost in
            (x: horizontal.position(of: size), y: vertical.position(of: cost.median))
        }
        let line = places.map { "\(decimal($0.x)) \(decimal($0.y))" }.joined(separator: "L")
        var lines = [#"<g class="series \#(name)">"#, #"<path d="M\#(line)"/>"#]
        for ((size, cost), place) in zip(points, places) {
            let (low, high) = (vertical.position(of: cost.minimum), vertical.position(of: cost.maximum))
            let mark =
                name == "stored"
                ? #"<rect x="\#(decimal(place.x - 4))" y="\#(decimal(place.y - 4))" width="8" height="8">"#
                : #"<circle cx="\#(decimal(place.x))" cy="\#(decimal(place.y))" r="4">"#
            let value = "\(number(Double(size))), \(title): \(decimal(cost.median)) µs"
            lines.append(
                #"<path class="spread" d="M\#(decimal(place.x)) \#(decimal(low))V\#(decimal(high))"/>"#
                    + "\(mark)<title>\(escaped(value))</title>\(name == "stored" ? "</rect>" : "</circle>")")
        }
        return lines + ["</g>"]
    }

    /// Escapes a text for XML. A control character, which XML does not permit, is replaced.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{0}"..<"\u{20}", "\u{FFFE}"..."\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Formats a coordinate or a cost with at most one decimal.
    static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let text = "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10)"
        return tenths % 10 == 0 ? text : "\(text).\(abs(tenths) % 10)"
    }

    /// Formats a size or the value of a tick. Thousands are separated, and multiples of a thousand from ten thousand on
    /// are shortened: `10 K`, `2 M`.
    static func number(_ value: Double) -> String {
        guard value == value.rounded() else { return decimal(value) }
        let whole = Int(value)
        if whole >= 1_000_000, whole.isMultiple(of: 1_000_000) { return "\(whole / 1_000_000) M" }
        if whole >= 10_000, whole.isMultiple(of: 1_000) { return "\(whole / 1_000) K" }
        var digits = String(whole)
        var end = digits.index(digits.endIndex, offsetBy: -3, limitedBy: digits.startIndex)
        while let place = end, place > digits.startIndex {
            digits.insert(",", at: place)
            end = digits.index(place, offsetBy: -3, limitedBy: digits.startIndex)
        }
        return digits
    }
}

// MARK: - Scales

/// A scale from zero, whose top is a round number.
struct LinearScale {
    /// The values of the grid lines, from 0 to the top.
    let ticks: [Double]
    private let start: Double
    private let end: Double

    /// - Parameters:
    ///   - highest: the highest value; the top of the scale is at least as high.
    ///   - start: the coordinate of zero.
    ///   - end: the coordinate of the top.
    init(upTo highest: Double, from start: Double, to end: Double) {
        (self.start, self.end) = (start, end)
        var step = 0.1
        // The steps are 0.1, 0.2, 0.5, 1, 2, 5, 10, and so on, up to the first that needs at most five of them.
        var index = 0
        while highest > step * 5 {
            step *= index % 3 == 1 ? 2.5 : 2
            index += 1
        }
        let count = max(1, (highest / step).rounded(.up))
        ticks = stride(from: 0, through: count, by: 1).map { $0 * step }
    }

    func position(of value: Double) -> Double { start + (end - start) * value / ticks[ticks.count - 1] }
}

/// A logarithmic scale of sizes. The size 0, which has no logarithm, is placed one decade below the next size.
struct LogarithmicScale {
    private let lowest: Double
    private let decades: Double
    private let start: Double
    private let end: Double

    /// - Parameters:
    ///   - sizes: the sizes in ascending order, none of them negative; at least one.
    ///   - start: the coordinate of the first size.
    ///   - end: the coordinate of the last size.
    init(_ sizes: [Int], from start: Double, to end: Double) {
        (self.start, self.end) = (start, end)
        let positive = Double(sizes.first { $0 > 0 } ?? 1)
        lowest = sizes[0] == 0 ? positive / 10 : positive
        decades = log10(Double(max(1, sizes[sizes.count - 1])) / lowest)
    }

    func position(of size: Int) -> Double {
        guard decades > 0 else { return (start + end) / 2 }
        return start + (end - start) * log10(max(Double(size), lowest) / lowest) / decades
    }
}
