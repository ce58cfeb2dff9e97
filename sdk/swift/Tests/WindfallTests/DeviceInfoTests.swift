import Foundation
import XCTest

@testable import Windfall

final class DeviceInfoTests: XCTestCase {
    func testLocalesAreTags() {
        XCTAssertEqual(tag(of: "de_AT"), "de-AT")
        XCTAssertEqual(tag(of: "zh_Hans_CN"), "zh-Hans-CN")
        XCTAssertEqual(tag(of: "en_TH@calendar=buddhist"), "en-TH")
    }

    func testVersionsLeaveOutAPatchOfZero() {
        let version = { OperatingSystemVersion(majorVersion: $0, minorVersion: $1, patchVersion: $2) }
        XCTAssertEqual(versionText(version(27, 0, 0)), "27.0")
        XCTAssertEqual(versionText(version(17, 2, 1)), "17.2.1")
    }

    func testTheDeviceHasAllFields() {
        let device = currentDevice()
        for field in [device.platform, device.osVersion, device.deviceModel, device.locale] {
            XCTAssertEqual(field?.isEmpty, false)
        }
    }

    /// An app and its extension, as folders.
    private func makeBundles() throws -> (app: Bundle, appex: Bundle) {
        let app = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)/Lantern.app")
        let appex = app.appendingPathComponent("PlugIns/Widget.appex")
        try FileManager.default.createDirectory(at: appex, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: app.deletingLastPathComponent()) }
        for (folder, id) in [(app, "com.example.lantern"), (appex, "com.example.lantern.widget")] {
            let info = try PropertyListSerialization.data(
                fromPropertyList: ["CFBundleIdentifier": id], format: .xml, options: 0)
            try info.write(to: folder.appendingPathComponent("Info.plist"))
        }
        return try (XCTUnwrap(Bundle(url: app)), XCTUnwrap(Bundle(url: appex)))
    }

    func testAnAppExtensionHasTheBundleIdOfItsApp() throws {
        let (app, appex) = try makeBundles()
        XCTAssertEqual(appBundleId(app), "com.example.lantern")
        XCTAssertEqual(appBundleId(appex), "com.example.lantern")
    }

    func testAnAppExtensionReportsNothingByItself() throws {
        let (app, appex) = try makeBundles()
        XCTAssertTrue(tracks(true, in: app))
        XCTAssertFalse(tracks(false, in: app))
        XCTAssertFalse(tracks(true, in: appex))
    }

    func testTheAppIsAroundTheExtension() {
        for inside in ["PlugIns", "Contents/PlugIns", "Extensions"] {
            let folder = URL(fileURLWithPath: "/a/Lantern.app/\(inside)/Widget.appex")
            XCTAssertEqual(appFolder(ofExtension: folder).lastPathComponent, "Lantern.app")
        }
    }

    func testOnlyABuildThatADebuggerMayAttachToIsDevelopment() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        XCTAssertEqual(BuildEnvironment.ofAppAttest(profile: nil), "production")
        XCTAssertEqual(BuildEnvironment.ofAppAttest(profile: file), "production")
        for (value, environment) in [("true", "development"), ("false", "production")] {
            let list = "<dict><key>get-task-allow</key>\n\t\t<\(value)/></dict>"
            try (Data([0x30, 0x82, 0xff]) + Data(list.utf8)).write(to: file)
            XCTAssertEqual(BuildEnvironment.ofAppAttest(profile: file), environment)
        }
    }
}
