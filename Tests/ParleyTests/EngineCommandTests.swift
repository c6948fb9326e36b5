import Testing

@testable import ParleyCommands

@Suite("engine migrate") struct EngineCommandTests {
    @Test("refuses a password in its argument, and does not print it")
    func password() async throws {
        let run = try await parley("engine", "migrate", "--from", "/none", "--to", "postgres://p:hunter2@db/parley")
        #expect(run.code == 1)
        #expect(run.errors.contains("--to must not contain a password") && run.errors.contains("PARLEY_ENGINE"))
        #expect(!run.errors.contains("hunter2"))
    }

    @Test("asks for a database, and for a URL of PostgreSQL")
    func target() async throws {
        let none = try await parley("engine", "migrate", "--from", "/none")
        #expect(none.code == 1 && none.errors.contains("pass --to, or set PARLEY_ENGINE or engine_file"))
        let other = try await parley("engine", "migrate", "--from", "/none", "--to", "mysql://db/parley")
        #expect(other.code == 1 && other.errors.contains("must be the URL of a PostgreSQL database"))
    }

    @Test("refuses a directory without data before it connects to the database")
    func source() async throws {
        let run = try await parley("engine", "migrate", "--from", "/none", "--to", "postgres://nowhere.invalid/parley")
        #expect(run.code == 1 && run.errors.contains("no database exists at '/none/parley.db'"))
    }
}

@Suite("engine restored") struct EngineRestoredTests {
    @Test("asks for a database, and reports that it cannot be used")
    func database() async throws {
        let none = try await parley("engine", "restored")
        #expect(none.code == 1 && none.errors.contains("engine is not set"))
        let unreachable = try await parley("engine", "restored", "--engine", "postgres://127.0.0.1:1/parley")
        #expect(unreachable.code == 1 && unreachable.errors.contains("the PostgreSQL store cannot be used"))
    }
}
