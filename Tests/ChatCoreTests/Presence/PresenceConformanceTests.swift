import ChatCore
import EngineConformance
import TestSupport
import Testing

@Suite("The presence board of one process keeps its promises") struct PresenceConformanceTests {
    @Test(arguments: PresenceBehaviour.all)
    func inMemory(_ behaviour: PresenceBehaviour) async throws {
        try await behaviour.run { limits, clock in [MemoryPresenceStore(limits: limits) { clock.uptime }] }
    }
}
