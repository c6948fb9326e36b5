// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
    .map { .enableUpcomingFeature($0) }

/// A Swift module at `Sources/<layer>/<name>` that may import what it `uses` and nothing else.
///
/// These lines are the one table of modules: the compiler and `Tests/ArchitectureTests` check every import, and the table
/// in ARCHITECTURE.md, against them.
func module(_ layer: String, _ name: String, uses: [Target.Dependency] = [], excluding: [String] = []) -> Target {
    .target(
        name: name, dependencies: uses, path: "Sources/\(layer)/\(name)", exclude: excluding, swiftSettings: strict)
}

/// A C library: a module map and a shim header at `Sources/System/<name>`, no logic.
func library(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig,
        providers: apt.map { [.apt([$0])] })
}

func tests(_ name: String, uses: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: uses, path: "Tests/\(name)", swiftSettings: strict)
}

/// Lets libmicrohttpd call the functions `recv`, `send`, `sendmsg` and `close` of the program (HTTPServer/Microhttpd/
/// LongHeaders.swift, HeldResponses.swift and LentDescriptors.swift). The default linker of a debug build does not
/// export them otherwise.
let exportsSocketCalls = LinkerSetting.unsafeFlags(
    ["recv", "send", "sendmsg", "close"].flatMap { ["-Xlinker", "--export-dynamic-symbol=\($0)"] })

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "parley",
    products: [
        .library(name: "ChatKit", targets: ["ChatKit", "ChatRemote"]),
        .library(name: "ChatKitCompat", targets: ["ChatKitCompat"]),
        .library(name: "ChatKitInProcess", targets: ["ChatKitInProcess", "SQLiteEngine"]),
        .executable(name: "parley", targets: ["parley"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        library("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        library("CJansson", pkgConfig: "jansson", apt: "libjansson-dev"),
        library("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
        library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        library("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        library("CLinux"),
        // Without the library itself, which is loaded when the first connection is opened.
        library("CPostgres"),
        library("CNATS"),
        .target(name: "CAssets", path: "Sources/System/CAssets"),

        module("Toolkit", "Locking", uses: ["CLinux"]),
        module("Toolkit", "Text"),
        module("Toolkit", "JSON", uses: ["CJansson"]),
        module("Toolkit", "YAML", uses: ["CYAML"]),
        module("Toolkit", "JSONSchema", uses: ["CJansson", "JSON"]),
        module("Toolkit", "Signing", uses: ["CCrypto", "Text"]),
        module("Toolkit", "Templates", uses: ["JSON"]),
        module("Toolkit", "SQLite", uses: ["CSQLite"]),
        module("Toolkit", "Postgres", uses: ["CLinux", "CPostgres", "Locking"]),
        module("Toolkit", "HTTPServer", uses: ["CLinux", "CMicrohttpd", "CZlib", "Locking", "Text", logging]),
        module("Toolkit", "HTTPClient", uses: ["CCurl", "CLinux", "Locking", "Text"]),
        module("Toolkit", "NATS", uses: ["CNATS", "Locking"]),

        module("Chat", "ChatModel", uses: ["JSON"]),
        module("Chat", "ChatPresence", uses: ["ChatModel", "JSON", "Locking"]),
        module(
            "Chat", "ChatCore",
            uses: ["ChatModel", "ChatPresence", "JSON", "JSONSchema", "Locking", "Signing", "Text"]),

        module("Chat", "GatewayClient", uses: ["CZlib", "ChatModel", "HTTPClient", "JSON", "Locking", "Text"]),
        module("Chat", "ChatKit", uses: ["ChatModel", "JSON", "Locking"]),
        module("Chat", "ChatRemote", uses: ["ChatKit", "ChatModel", "GatewayClient", "HTTPClient", "JSON", "Locking"]),
        module("Chat", "ChatKitCompat", uses: ["ChatKit", "ChatModel", "ChatRemote", "JSON", "Locking"]),
        module("Chat", "ChatKitInProcess", uses: ["ChatCore", "ChatKit", "ChatModel", "JSON", "Locking"]),

        module("Storage", "StorageCore", uses: ["ChatModel", "JSON", "Locking", "Text"]),
        module("Storage", "SQLiteEngine", uses: ["ChatModel", "JSON", "Locking", "SQLite", "StorageCore", logging]),
        module(
            "Storage", "ClusterEngine",
            uses: ["ChatModel", "ChatPresence", "JSON", "Locking", "NATS", "Postgres", "StorageCore", logging]),

        module(
            "Interfaces", "InboundHooks",
            uses: ["ChatCore", "ChatModel", "JSON", "Locking", "Signing", "Templates", "Text", logging]),
        module(
            "Interfaces", "Webhooks",
            uses: [
                "ChatCore", "ChatModel", "HTTPClient", "JSON", "Locking", "Signing", "Templates", "Text", logging,
            ]),
        module("Interfaces", "LongPolling", uses: ["ChatCore", "ChatModel", "HTTPServer", "Locking"]),
        module(
            "Interfaces", "NativeAPI",
            uses: [
                "CAssets", "ChatCore", "ChatModel", "LongPolling", "HTTPServer", "InboundHooks", "JSON", "Locking",
                "Signing", "Text", "Webhooks",
            ]),
        module(
            "Interfaces", "PubNubAPI",
            uses: [
                "ChatCore", "ChatModel", "LongPolling", "HTTPServer", "JSON", "JSONSchema", "Locking", "Signing",
                "Text",
            ]),
        // `Site` goes into the program by way of CAssets.
        module("Interfaces", "Dashboard", uses: ["CAssets", "HTTPServer", "Locking"], excluding: ["Site"]),

        module(
            "App", "Gateway",
            uses: [
                "ChatCore", "ChatModel", "ClusterEngine", "Dashboard", "LongPolling", "HTTPClient", "HTTPServer",
                "InboundHooks", "JSON", "Locking", "NativeAPI", "PubNubAPI", "SQLiteEngine", "Signing", "StorageCore",
                "Text", "Webhooks", "YAML", logging,
            ]),
        module("App", "Bench", uses: ["CLinux", "JSON", "Locking"]),
        module(
            "App", "ClientCommands",
            uses: [
                "Bench", "ChatModel", "GatewayClient", "HTTPClient", "JSON", "JSONSchema", "Locking", "Signing", "Text",
                argumentParser,
            ]),
        module(
            "App", "ParleyCommands",
            uses: [
                "ChatCore", "ChatModel", "ClientCommands", "Gateway", "GatewayClient", "HTTPClient", "JSON",
                "PubNubAPI",
                "Signing", argumentParser,
            ]),
        .executableTarget(
            name: "parley", dependencies: ["ParleyCommands"], path: "Sources/App/parley", swiftSettings: strict,
            // In the place of the C library's allocator, which keeps too little at hand for hundreds of requests under
            // way: a quarter of an emit's CPU (docs/performance.md).
            linkerSettings: [.linkedLibrary("jemalloc"), exportsSocketCalls]),

        // A program of Examples/, built with everything else so that it stays true.
        .executableTarget(name: "converse", dependencies: ["ChatKit", "ChatRemote"], path: "Examples/swift"),

        // For the tests of every module: uses Locking alone, so that those of the toolkit wait for nothing of the chat.
        .target(
            name: "TestSupport", dependencies: ["Locking"], path: "Tests/Support/TestSupport", swiftSettings: strict),
        .target(
            name: "HTTPSupport", dependencies: ["HTTPServer"], path: "Tests/Support/HTTPSupport",
            swiftSettings: strict, linkerSettings: [exportsSocketCalls]),
        .target(
            name: "PostgresSupport", dependencies: ["Locking", "Postgres", "TestSupport"],
            path: "Tests/Support/PostgresSupport", swiftSettings: strict),
        .target(
            name: "NATSSupport", dependencies: ["Locking", "TestSupport"], path: "Tests/Support/NATSSupport",
            swiftSettings: strict),
        tests("ArchitectureTests", uses: []),
        tests("LockingTests", uses: ["Locking"]),
        tests("BenchTests", uses: ["Bench", "ChatModel", "Gateway", "JSON", "Locking", "TestSupport"]),
        tests(
            "ClusterEngineTests",
            uses: [
                "ChatModel", "ClusterEngine", "EngineConformance", "JSON", "Locking", "NATSSupport", "Postgres",
                "PostgresSupport", "SQLite", "SQLiteEngine", "StorageCore", "TestSupport", logging,
            ]),
        tests(
            "ChatCoreTests",
            uses: [
                "ChatCore", "ChatModel", "ChatPresence", "ChatSupport", "EngineConformance", "JSON", "JSONSchema",
                "Locking", "SQLiteEngine", "Signing", "TestSupport", logging,
            ]),
        tests(
            "ChatKitTests",
            uses: [
                "ChatCore", "ChatKit", "ChatKitInProcess", "ChatModel", "ChatRemote", "Gateway", "HTTPClient", "JSON",
                "JSONSchema", "Locking", "SQLiteEngine", "TestSupport",
            ]),
        tests(
            "ChatKitCompatTests",
            uses: ["ChatKitCompat", "Gateway", "HTTPClient", "JSON", "Locking", "TestSupport"]),
        tests(
            "GatewayTests",
            uses: [
                "ChatCore", "ChatModel", "ChatSupport", "ClusterEngine", "Gateway", "HTTPClient", "HTTPServer", "JSON",
                "Locking", "NATSSupport", "PostgresSupport", "SQLiteEngine", "Signing", "TestSupport", logging,
            ]),
        tests("DashboardTests", uses: ["Dashboard", "HTTPServer", "HTTPSupport"]),
        tests("HTTPClientTests", uses: ["HTTPClient", "Locking", "TestSupport", "Text"]),
        tests("HTTPServerTests", uses: ["HTTPServer", "HTTPSupport", "Locking", "TestSupport", "Text", logging]),
        tests("JSONTests", uses: ["CJansson", "JSON", "TestSupport"]),
        tests("JSONSchemaTests", uses: ["JSON", "JSONSchema", "TestSupport"]),
        tests("NATSTests", uses: ["Locking", "NATS", "NATSSupport", "TestSupport"]),
        tests(
            "NativeAPITests",
            uses: [
                "ChatCore", "ChatModel", "ChatSupport", "LongPolling", "HTTPClient", "HTTPServer", "HTTPSupport",
                "InboundHooks", "JSON", "Locking", "NativeAPI", "SQLiteEngine", "Signing", "TestSupport", "Text",
                "Webhooks",
                "YAML", logging,
            ]),
        tests(
            "ParleyTests",
            uses: [
                "ChatModel", "ClientCommands", "GatewayClient", "JSON", "Locking", "ParleyCommands", "Signing",
                "TestSupport",
                argumentParser,
            ]),
        tests("PostgresTests", uses: ["Postgres", "PostgresSupport", "TestSupport"]),
        tests(
            "PubNubAPITests",
            uses: [
                "ChatCore", "ChatModel", "ChatSupport", "LongPolling", "HTTPServer", "JSON", "Locking", "PubNubAPI",
                "SQLiteEngine", "Signing", "TestSupport", "Text", logging,
            ]),
        tests("SQLiteTests", uses: ["SQLite", "TestSupport"]),
        tests("SigningTests", uses: ["Signing", "TestSupport", "Text"]),
        tests("TemplatesTests", uses: ["JSON", "Templates", "TestSupport"]),
        tests("TextTests", uses: ["Text"]),
        tests("YAMLTests", uses: ["YAML"]),
        .target(
            name: "EngineConformance", dependencies: ["ChatModel", "JSON", "Locking", "TestSupport"],
            path: "Tests/Support/EngineConformance", swiftSettings: strict),
        .target(
            name: "ChatSupport",
            dependencies: [
                "ChatCore", "ChatModel", "HTTPServer", "Locking", "SQLiteEngine", "Signing", "TestSupport", logging,
            ],
            path: "Tests/Support/ChatSupport", swiftSettings: strict),
        tests(
            "InboundHooksTests",
            uses: [
                "ChatCore", "ChatModel", "ChatSupport", "InboundHooks", "JSON", "Locking", "SQLiteEngine", "Signing",
                "TestSupport", "Text",
            ]),
        tests(
            "WebhooksTests",
            uses: [
                "ChatCore", "ChatModel", "ChatSupport", "HTTPClient", "JSON", "Locking", "SQLiteEngine", "Signing",
                "TestSupport", "Webhooks", logging,
            ]),
        tests("StorageCoreTests", uses: ["ChatModel", "JSON", "Locking", "StorageCore", "TestSupport"]),
        tests(
            "SQLiteEngineTests",
            uses: [
                "ChatModel", "EngineConformance", "JSON", "Locking", "SQLite", "SQLiteEngine", "StorageCore",
                "TestSupport", logging,
            ]),
    ]
)
