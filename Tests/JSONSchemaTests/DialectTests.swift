import JSONSchema
import Testing

@Suite("A dialect") struct DialectTests {
    @Test("is ordered by its age")
    func order() {
        #expect(Dialect.allCases.sorted() == [.draft04, .draft06, .draft07, .draft201909, .draft202012])
    }
}
