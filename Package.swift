// swift-tools-version:5.9
import PackageDescription

let strict: [SwiftSetting] = [.enableExperimentalFeature("StrictConcurrency")]

// On Linux stand-ins take the places of Apple's modules.
#if os(Linux)
    let appleModules = ["DeviceCheck", "Network", "Security", "StoreKit", "UIKit"]
#else
    let appleModules: [String] = []
#endif
let apple: [Target.Dependency] = appleModules.map { .byName(name: $0) }

let package = Package(
    name: "Windfall",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "Windfall", targets: ["Windfall"]),
    ],
    targets: [
        .target(name: "WindfallCore", path: "sdk/swift/Sources/WindfallCore", swiftSettings: strict),
        .target(
            name: "Windfall", dependencies: ["WindfallCore"] + apple, path: "sdk/swift/Sources/Windfall",
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: strict),
        .executableTarget(
            name: "WindfallProbe", dependencies: ["WindfallCore"], path: "sdk/swift/Tests/WindfallProbe",
            swiftSettings: strict),
        .testTarget(
            name: "WindfallCoreTests", dependencies: ["WindfallCore"], path: "sdk/swift/Tests/WindfallCoreTests",
            swiftSettings: strict),
    ]
)

#if os(Linux)
    package.targets += appleModules.map {
        .target(name: $0, path: "sdk/swift/Stubs/\($0)", swiftSettings: strict)
    }
    package.targets.append(
        .testTarget(
            name: "WindfallTests", dependencies: ["Windfall", "WindfallCore"] + apple,
            path: "sdk/swift/Tests/WindfallTests", swiftSettings: strict))
#endif
