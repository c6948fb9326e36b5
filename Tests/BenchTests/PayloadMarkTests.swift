import Testing

@testable import Bench

@Suite("A mark") struct MarkTests {
    private func written(_ mark: PayloadMark) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PayloadMark.length)
        bytes.withUnsafeMutableBytes { mark.write(to: $0.baseAddress!) }
        return bytes
    }

    @Test("is read as it was written")
    func roundTrip() {
        let mark = PayloadMark(channel: 0xABCDE, publisher: 0x1F09, sequence: .max, nanoseconds: 0x0123_4567_89AB_CDEF)
        #expect(written(mark).withUnsafeBytes { PayloadMark(at: $0.baseAddress!) } == mark)
    }

    @Test("is plain text that JSON takes as it is")
    func text() {
        let mark = PayloadMark(channel: 7, publisher: 2, sequence: 31, nanoseconds: 255)
        #expect(String(decoding: written(mark), as: UTF8.self) == "~00007:0002:0000001f:00000000000000ff~")
    }

    @Test("is not seen in other text")
    func otherText() {
        let text = Array("~user and other words that go on for long".utf8)
        #expect(text.withUnsafeBytes { PayloadMark(at: $0.baseAddress!) } == nil)
    }
}
