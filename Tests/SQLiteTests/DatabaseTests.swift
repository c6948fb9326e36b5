import Glibc
import SQLite
import TestSupport
import Testing

@Suite("A database") struct DatabaseTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/test.db"
    }

    @Test("returns bound values of every kind")
    func values() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.execute("CREATE TABLE t(i INTEGER, d REAL, s TEXT, e TEXT, b BLOB, z BLOB, n TEXT)")
        let insert = try database.prepare("INSERT INTO t VALUES (?,?,?,?,?,?,?)")
        insert.bind(Int64.min, at: 1)
        insert.bind(2.5, at: 2)
        insert.bind("zwölf 🐍 \0 nul", at: 3)
        insert.bind("", at: 4)
        insert.bind([0, 255, 7] as [UInt8], at: 5)
        insert.bind([] as [UInt8], at: 6)
        insert.bind(nil as String?, at: 7)
        try insert.run()
        let select = try database.prepare("SELECT * FROM t")
        #expect(try select.step())
        #expect(select.integer(0) == .min)
        #expect(select.double(1) == 2.5)
        #expect(select.text(2) == "zwölf 🐍 \0 nul")
        #expect(!select.isNull(3) && select.text(3).isEmpty)
        #expect(select.bytes(4) == [0, 255, 7])
        #expect(!select.isNull(5) && select.bytes(5).isEmpty)
        #expect(select.optionalText(6) == nil)
        #expect(try !select.step())
    }

    @Test("binds NULL to a parameter that had a value, at any position")
    func nullAgain() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        let statement = try database.prepare("SELECT ?1, ?2, ?64, ?65, ?100")
        let positions: [Int32] = [1, 2, 64, 65, 100]
        for round in 0..<4 {
            for position in positions {
                round % 2 == 0 ? statement.bind(Int64(position), at: position) : statement.bindNull(at: position)
            }
            #expect(try statement.step())
            for (column, position) in positions.enumerated() {
                let expected = round % 2 == 0 ? Int64(position) : nil
                #expect(statement.optionalInteger(Int32(column)) == expected)
            }
            statement.reset()
        }
    }

    @Test("is made for its account alone, with the files beside it, whatever the mask")
    func modes() throws {
        let former = umask(0)
        defer { umask(former) }
        let database = try Database(path: path, mode: .readWrite)
        try database.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(i)")
        for file in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600, "\(file)")
        }
        chmod(path, 0o640)
        _ = try Database(path: path, mode: .readWrite)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640, "an existing file keeps its mode")
    }

    @Test("reads a value bound in place")
    func inPlace() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.execute("CREATE TABLE t(b BLOB, s TEXT)")
        let insert = try database.prepare("INSERT INTO t VALUES (?,?)")
        let bytes = Array("payload".utf8)
        try bytes.withUnsafeBufferPointer { (buffer) throws(SQLiteFailure) in
            insert.bindInPlace(bytes: buffer, at: 1)
            insert.bindInPlace(text: buffer, at: 2)
            try insert.run()
        }
        #expect(try database.text("SELECT typeof(b) || typeof(s) || s FROM t") == "blobtextpayload")
    }

    @Test("reports the kind of a failure, and works after it")
    func failures() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.execute("CREATE TABLE t(i INTEGER PRIMARY KEY)")
        let insert = try database.prepare("INSERT INTO t VALUES (?)")
        insert.bind(1, at: 1)
        try insert.run()
        insert.bind(1, at: 1)
        #expect { try insert.run() } throws: { ($0 as? SQLiteFailure)?.kind == .constraint }
        insert.bind(2, at: 1)
        try insert.run()
        #expect { try database.execute("NONSENSE") } throws: { ($0 as? SQLiteFailure)?.kind == .other }
        #expect { try Database(path: "/nowhere/x.db", mode: .readWrite) } throws: {
            ($0 as? SQLiteFailure)?.kind == .access
        }
    }

    @Test("reports a bind that fails at the step, not before, and only once")
    func badBind() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        let select = try database.prepare("SELECT ?")
        select.bind(1, at: 9)
        #expect(throws: SQLiteFailure.self) { try select.step() }
        select.bind(1, at: 1)
        #expect(try select.step())
    }

    @Test("reports a full disk when the page limit is reached")
    func full() throws {
        let database = try Database(path: path, mode: .readWrite)
        try database.execute("CREATE TABLE t(b BLOB); PRAGMA max_page_count=10")
        #expect { try database.execute("INSERT INTO t VALUES (zeroblob(100000))") } throws: {
            ($0 as? SQLiteFailure)?.kind == .full
        }
    }

    @Test("refuses to write through a reader, and lets it read what is committed")
    func readers() throws {
        let writer = try Database(path: path, mode: .readWrite)
        try writer.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(i); INSERT INTO t VALUES (1)")
        let reader = try Database(path: path, mode: .readOnly)
        try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
        #expect(try reader.integer("SELECT count(*) FROM t") == 1)
        try writer.execute("COMMIT")
        #expect(try reader.integer("SELECT count(*) FROM t") == 2)
        #expect { try reader.execute("DELETE FROM t") } throws: { ($0 as? SQLiteFailure)?.kind == .access }
    }

    @Test("is busy when another connection writes and the wait is over")
    func busy() throws {
        let first = try Database(path: path, mode: .readWrite)
        try first.execute("CREATE TABLE t(i); BEGIN IMMEDIATE")
        let second = try Database(path: path, mode: .readWrite, busyTimeout: .zero)
        #expect { try second.execute("BEGIN IMMEDIATE") } throws: { ($0 as? SQLiteFailure)?.kind == .busy }
    }

    @Test("stops a statement at its deadline")
    func deadline() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        database.deadline = 1
        #expect { try database.integer(endless) } throws: { ($0 as? SQLiteFailure)?.kind == .interrupted }
        database.deadline = nil
        #expect(try database.integer("SELECT 1") == 1)
    }

    @Test("counts the pages of its log and empties it by a checkpoint")
    func checkpoint() throws {
        let database = try Database(path: path, mode: .readWrite)
        try database.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(i)")
        try database.execute("INSERT INTO t VALUES (1)")
        let before = database.walPages
        #expect(before > 0)
        #expect(try database.checkpoint(.restart))
        try database.execute("INSERT INTO t VALUES (2)")
        #expect(database.walPages < before)
    }

    @Test("rolls back a transaction that throws")
    func transactions() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.execute("CREATE TABLE t(i INTEGER UNIQUE)")
        #expect(throws: SQLiteFailure.self) {
            try database.transaction { () throws(SQLiteFailure) in
                try database.execute("INSERT INTO t VALUES (1)")
                try database.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(!database.isInTransaction)
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
    }
}

@Suite("Migrations") struct MigrationTests {
    let steps = ["CREATE TABLE a(i)", "CREATE TABLE b(i); INSERT INTO b VALUES (7)"]

    @Test("run once each, in order, and only the missing ones")
    func order() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.migrate([steps[0]])
        #expect(try database.schemaVersion == 1)
        try database.migrate(steps)
        try database.migrate(steps)
        #expect(try database.schemaVersion == 2)
        #expect(try database.integer("SELECT count(*) FROM b") == 1)
    }

    @Test("leave nothing behind when a step fails, of those before it neither")
    func failure() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.migrate([steps[0]])
        #expect(throws: SQLiteFailure.self) { try database.migrate(steps + ["CREATE TABLE c(i); NONSENSE"]) }
        #expect(try database.schemaVersion == 1)
        #expect(try database.integer("SELECT count(*) FROM sqlite_master") == 1)
    }

    @Test("refuse a file of a newer program, and say so")
    func newer() throws {
        let database = try Database(path: ":memory:", mode: .readWrite)
        try database.execute("PRAGMA user_version = 9")
        #expect {
            try database.migrate(steps)
        } throws: {
            ($0 as? SQLiteFailure)?.kind == .newerSchema(found: 9, known: 2)
        }
    }
}

@Suite("A file lock") struct FileLockTests {
    @Test("is held by one, and free again after its owner let go")
    func exclusive() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/lock"
        do {
            let first = try FileLock(path: path)
            #expect(throws: FileLock.LockError.held) { _ = try FileLock(path: path) }
            _ = consume first
        }
        _ = try FileLock(path: path)
    }

    @Test("reports the system's error")
    func refused() {
        #expect(throws: FileLock.LockError.system(errno: 2)) { _ = try FileLock(path: "/nowhere/lock") }
    }
}
