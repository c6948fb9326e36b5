import Glibc

/// The tables with the addresses of the functions that a library of this process calls in other libraries.
///
/// Source: System V ABI, chapter 5, "Dynamic Linking", and its supplements for each processor.
enum ImportTables {
    struct Slot {
        let place: UnsafeMutablePointer<UnsafeMutableRawPointer?>
        let original: UnsafeMutableRawPointer?
        let replacement: UnsafeMutableRawPointer
    }

    #if arch(x86_64)
        /// The relocation types R_X86_64_GLOB_DAT and R_X86_64_JUMP_SLOT.
        private static let relocationTypes: Set<UInt> = [6, 7]
    #elseif arch(arm64)
        /// The relocation types R_AARCH64_GLOB_DAT and R_AARCH64_JUMP_SLOT.
        private static let relocationTypes: Set<UInt> = [1025, 1026]
    #else
        private static let relocationTypes: Set<UInt> = []
    #endif

    /// Returns the table entries of the named functions, which are made writable. Entries of the C library are left
    /// out.
    static func slots(of replacements: [String: UnsafeMutableRawPointer]) -> [Slot] {
        // The handle of the program is the first element of the list of all loaded libraries.
        var next = dlopen(nil, RTLD_LAZY).map { UnsafePointer<Library>($0.assumingMemoryBound(to: Library.self)) }
        var slots: [Slot] = []
        while let library = next {
            slots += Self.slots(in: library.pointee, replacements)
            next = library.pointee.next
        }
        return slots
    }

    private static func slots(
        in library: Library, _ replacements: [String: UnsafeMutableRawPointer]
    ) -> [Slot] {
        let name = library.name.map { String(cString: $0) } ?? ""
        // The library of the kernel (vDSO) has no such table. The C library and the dynamic linker are left out,
        // because they call their own functions.
        if name.contains("vdso") || name.contains("/libc.so") || name.contains("/ld-") { return [] }
        guard let tables = library.dynamic.map(Tables.init), let symbols = tables.symbols, let names = tables.names
        else { return [] }
        return tables.relocations.compactMap { relocation in
            guard relocationTypes.contains(relocation.kind & 0xFFFF_FFFF) else { return nil }
            let name = String(cString: names + Int(symbols[Int(relocation.kind >> 32)].name))
            return replacements[name].flatMap { writable(library.base &+ relocation.offset, $0) }
        }
    }

    /// Makes a table entry writable, because the table of a library that was linked with RELRO is read-only after
    /// loading. Returns nil when the system does not permit the change.
    private static func writable(_ address: UInt, _ replacement: UnsafeMutableRawPointer) -> Slot? {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        guard let start = UnsafeMutableRawPointer(bitPattern: address & ~(page - 1)),
            let place = UnsafeMutablePointer<UnsafeMutableRawPointer?>(bitPattern: address),
            mprotect(start, Int(page), PROT_READ | PROT_WRITE) == 0
        else { return nil }
        return Slot(place: place, original: place.pointee, replacement: replacement)
    }

    /// The C type `struct link_map` of link.h.
    private struct Library {
        let base: UInt
        let name: UnsafePointer<CChar>?
        let dynamic: UnsafePointer<Entry>?
        let next: UnsafePointer<Library>?
    }

    /// The C type `Elf64_Dyn`.
    private struct Entry {
        let tag: Int
        let value: UInt
    }

    /// The C type `Elf64_Sym`.
    private struct Symbol {
        let name: UInt32
        let kind: UInt32
        let value: UInt
        let size: UInt
    }

    /// The C type `Elf64_Rela`.
    private struct Relocation {
        let offset: UInt
        let kind: UInt
        let addend: Int
    }

    /// The tables that are found in the dynamic section of a library.
    private struct Tables {
        let symbols: UnsafePointer<Symbol>?
        let names: UnsafePointer<CChar>?
        let relocations: [Relocation]

        init(_ dynamic: UnsafePointer<Entry>) {
            // The needed entries are DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL and DT_PLTRELSZ.
            var found: [Int: UInt] = [:]
            var entry = dynamic
            while entry.pointee.tag != 0 {
                found[entry.pointee.tag] = entry.pointee.value
                entry += 1
            }
            names = found[5].flatMap { UnsafePointer(bitPattern: $0) }
            symbols = found[6].flatMap { UnsafePointer(bitPattern: $0) }
            relocations = [(7, 8), (23, 2)].flatMap { table, size -> [Relocation] in
                guard let start = found[table].flatMap({ UnsafePointer<Relocation>(bitPattern: $0) }) else { return [] }
                let count = Int(found[size] ?? 0) / MemoryLayout<Relocation>.stride
                return Array(UnsafeBufferPointer(start: start, count: count))
            }
        }
    }
}
