import Testing

@testable import Bench

@Suite("The drawing of growth") struct GrowthChartTests {
    private func curve(_ quantity: GrowthAxis.Quantity, _ points: [(size: Int, cost: Double)]) -> GrowthCurve {
        var curve = GrowthCurve(GrowthAxis(quantity))
        curve.points = points.map { size, cost in
            GrowthCurve.Point(
                size: size, notStored: EmitCost([(emits: 1, microseconds: cost)]),
                stored: EmitCost([(emits: 1, microseconds: 2 * cost), (emits: 1, microseconds: 2 * cost)]))
        }
        return curve
    }

    /// The elements that are open at the end of a text, and the first end tag that does not match.
    private func unbalanced(_ svg: String) -> [Substring] {
        var open: [Substring] = []
        for match in svg.matches(of: /<(\/?)([a-z]+)[^>]*?(\/?)>/) {
            if match.1 == "/" {
                guard open.last == match.2 else { return [match.2] }
                open.removeLast()
            } else if match.3.isEmpty {
                open.append(match.2)
            }
        }
        return open
    }

    @Test("has a chart for each curve, with titles, labels, sizes and values as text")
    func charts() {
        let svg = GrowthChart([
            curve(.connections, [(1, 40), (1_000, 30)]), curve(.webhooks, [(0, 30), (10, 31), (10_000, 32)]),
            curve(.body, [(100, 10.04)]),
        ]).svg
        #expect(unbalanced(svg).isEmpty)
        for text in [
            "Connections", "connections that emit", "webhooks that do not match", "µs of CPU", "1,000", "10 K",
            "not stored",
            "stored", "80", "20",
        ] {
            #expect(svg.contains(">\(text)</text>"), "\(text)")
        }
        #expect(svg.contains("<title>10 K, not stored: 32 µs</title>"))
        #expect(svg.contains("<title>100, stored: 20.1 µs</title>"))
        #expect(svg.contains(#"viewBox="0 0 880 584""#) && svg.contains("prefers-color-scheme: dark"))
        #expect(!svg.contains("<script") && !svg.contains("href"))
        #expect(!svg.contains("nan") && !svg.contains("inf"))
    }

    @Test("of a curve without points says that nothing was measured, and why")
    func empty() {
        var empty = curve(.streams, [])
        empty.shortfall = "a <b> & \"c\"\u{1}"
        let svg = GrowthChart([empty]).svg
        #expect(svg.contains(">not measured</text>"))
        #expect(svg.contains("<desc>a &lt;b&gt; &amp; &quot;c&quot;\u{FFFD}</desc>"))
        #expect(unbalanced(svg).isEmpty && unbalanced(GrowthChart([]).svg).isEmpty)
    }

    @Test(
        "has a vertical scale from zero to a round number",
        arguments: [
            (0, [0, 0.1]), (0.4, [0, 0.1, 0.2, 0.3, 0.4]), (7, [0, 2, 4, 6, 8]), (11, [0, 5, 10, 15]),
            (40, [0, 10, 20, 30, 40]), (61.5, [0, 20, 40, 60, 80]), (101, [0, 50, 100, 150]),
            (4_200, [0, 1_000, 2_000, 3_000, 4_000, 5_000]),
        ] as [(Double, [Double])])
    func vertical(_ highest: Double, _ ticks: [Double]) {
        let scale = LinearScale(upTo: highest, from: 200, to: 0)
        #expect(scale.ticks.map { ($0 * 1_000).rounded() } == ticks.map { ($0 * 1_000).rounded() })
        #expect(scale.position(of: 0) == 200 && abs(scale.position(of: ticks[ticks.count - 1])) < 1e-9)
    }

    @Test("has a logarithmic horizontal scale, on which zero is one decade below the next size")
    func horizontal() {
        let scale = LogarithmicScale([0, 10, 100, 1_000], from: 0, to: 300)
        #expect([0, 10, 100, 1_000].map { scale.position(of: $0).rounded() } == [0, 100, 200, 300])
        #expect(LogarithmicScale([1, 4, 16], from: 0, to: 100).position(of: 4).rounded() == 50)
        #expect(LogarithmicScale([0], from: 0, to: 100).position(of: 0) == 0)
        #expect(LogarithmicScale([7], from: 0, to: 100).position(of: 7) == 50)
    }

    @Test(
        "shortens numbers",
        arguments: [
            (0, "0"), (1, "1"), (999, "999"), (1_000, "1,000"), (2_500, "2,500"), (10_000, "10 K"), (12_500, "12,500"),
            (65_536, "65,536"), (100_000, "100 K"), (1_000_000, "1 M"), (1_234_567, "1,234,567"), (0.5, "0.5"),
        ] as [(Double, String)])
    func numbers(_ value: Double, _ text: String) {
        #expect(GrowthChart.number(value) == text)
        #expect(GrowthChart.decimal(-0.04) == "0" && GrowthChart.decimal(-1.26) == "-1.3")
    }
}
