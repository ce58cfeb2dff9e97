import Foundation
import WindfallCore

/// What describes this device.
func currentDevice() -> Device {
    Device(
        platform: platform, osVersion: versionText(ProcessInfo.processInfo.operatingSystemVersion),
        deviceModel: ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] ?? machine(),
        locale: tag(of: Locale.current.identifier))
}

#if os(macOS)
    private let platform = "macos"
#else
    private let platform = "ios"
#endif

/// Such as `17.2` or `17.2.1`.
func versionText(_ version: OperatingSystemVersion) -> String {
    let patch = version.patchVersion == 0 ? "" : ".\(version.patchVersion)"
    return "\(version.majorVersion).\(version.minorVersion)\(patch)"
}

/// `de-AT` of `de_AT@calendar=buddhist`.
func tag(of identifier: String) -> String {
    identifier.prefix { $0 != "@" }.replacingOccurrences(of: "_", with: "-")
}

/// Such as `iPhone15,2`.
private func machine() -> String {
    var system = utsname()
    uname(&system)
    return withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// The bundle id of the app; in an app extension that of the app around it.
func appBundleId(_ main: Bundle = .main) -> String? {
    guard isExtension(main) else { return main.bundleIdentifier }
    return Bundle(url: appFolder(ofExtension: main.bundleURL))?.bundleIdentifier
}

/// Of `App.app/PlugIns/Extension.appex`, and on a Mac of `App.app/Contents/PlugIns/Extension.appex`.
func appFolder(ofExtension folder: URL) -> URL {
    var app = folder
    for _ in 0..<3 where app.pathExtension != "app" { app.deleteLastPathComponent() }
    return app
}

func isExtension(_ main: Bundle = .main) -> Bool {
    main.bundleURL.pathExtension == "appex"
}

/// Whether purchases are reported by themselves: as the app asks for it, and never in an app extension, which has another
/// anonymous id and would move the purchases of the app's user to it.
func tracks(_ autoTrack: Bool, in main: Bundle = .main) -> Bool {
    autoTrack && !isExtension(main)
}
