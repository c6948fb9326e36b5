import Testing

@testable import JSONSchema

@Suite("The scratch") struct ScratchTests {
    @Test("hands out memory that is aligned, apart and stays in place while it grows")
    func allocation() throws {
        var scratch = Scratch()
        var places: [UnsafeMutablePointer<UInt64>] = []
        for index in 1...300 {
            let fresh = scratch.allocate(index, of: UInt64.self)
            let place = try #require(fresh)
            #expect(UInt(bitPattern: place) % 16 == 0)
            place.initialize(repeating: UInt64(index), count: index)
            places.append(place)
        }
        for (index, place) in zip(1..., places) {
            #expect((0..<index).allSatisfy { place[$0] == UInt64(index) })
        }
    }

    @Test("releases memory that was allocated after a mark")
    func marks() {
        var scratch = Scratch()
        _ = scratch.allocate(10, of: UInt8.self)
        let mark = scratch.mark
        let first = scratch.allocate(1_000, of: UInt8.self)
        scratch.release(to: mark)
        let second = scratch.allocate(1_000, of: UInt8.self)
        #expect(first != nil && first == second)
    }

    @Test("refuses more than its limit, and serves again afterwards")
    func limit() {
        var scratch = Scratch(limitBytes: 100_000)
        let refused = [scratch.allocate(100_001, of: UInt8.self), scratch.allocate(.max, of: UInt8.self)]
        #expect(refused == [nil, nil])
        let overflowing = scratch.allocate(.max, of: UInt64.self)
        #expect(overflowing == nil)
        var served = 0
        while scratch.allocate(1_000, of: UInt8.self) != nil { served += 1_000 }
        #expect(served > 50_000 && served <= 100_000)
        scratch.reset()
        let again = scratch.allocate(10_000, of: UInt8.self)
        #expect(again != nil)
    }

    @Test("keeps its block between runs, unless the run was unusually large")
    func steadiness() {
        var scratch = Scratch()
        for _ in 0..<3 { run(&scratch, bytes: 200_000) }
        let before = scratch.mark
        for _ in 0..<100 { run(&scratch, bytes: 200_000) }
        let after = scratch.mark
        #expect(before.block != nil && after.block == before.block)
        run(&scratch, bytes: 4 << 20)
        scratch.reset()
        let returned = scratch.mark
        #expect(returned.block == nil)
    }

    private func run(_ scratch: inout Scratch, bytes: Int) {
        scratch.reset()
        for _ in 0..<(bytes / 1_000) {
            let place = scratch.allocate(1_000, of: UInt8.self)
            #expect(place != nil)
        }
    }
}
