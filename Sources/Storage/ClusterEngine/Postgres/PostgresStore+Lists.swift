import ChatModel
import Postgres

extension PostgresStore {
    func list(_ query: RecordQuery) async throws(ListFailure) -> Page<Record> {
        let listing: RecordListing
        do throws(ChatError) {
            listing = try RecordListing(query)
        } catch {
            throw .query(error)
        }
        do throws(StoreFailure) {
            let rows = try await pool.snapshot(query.wantsTotal ? [listing.rows, listing.total] : [listing.rows])
            return listing.page(rows[0], total: query.wantsTotal ? rows[1] : nil)
        } catch {
            throw .store(error)
        }
    }
}
