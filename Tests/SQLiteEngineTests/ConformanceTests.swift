import EngineConformance
import Testing

@Suite("The SQLite engine keeps its promises") struct ConformanceTests {
    @Test(arguments: Behaviour.all)
    func inMemory(_ behaviour: Behaviour) async throws { try await behaviour.run(Place.memory.factory) }

    @Test(arguments: Behaviour.all)
    func onDisk(_ behaviour: Behaviour) async throws { try await behaviour.run(Place.disk.factory) }
}
