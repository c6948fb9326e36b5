// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the product knows nothing of it.
let package = Package(
    name: "matching",
    dependencies: [.package(name: "parley", path: "../..")],
    targets: [
        .executableTarget(
            // The product that ChatCore is part of.
            name: "Matching", dependencies: [.product(name: "ChatKitInProcess", package: "parley")],
            // As the gateway has it: memory is half of what is measured.
            linkerSettings: [.linkedLibrary("jemalloc")])
    ]
)
