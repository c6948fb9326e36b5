import ChatCore
import EngineConformance
import TestSupport
import Testing

@Suite("The presence store of one process conforms to the contract") struct PresenceConformanceTests {
    @Test(arguments: PresenceBehaviour.all)
    func inMemory(_ behaviour: PresenceBehaviour) async throws {
        try await behaviour.run { limits, clock in [MemoryPresenceStore(limits: limits) { clock.uptime }] }
    }
}
