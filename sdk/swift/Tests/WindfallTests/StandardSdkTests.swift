import Foundation
import Security
import WindfallCore
import XCTest

@testable import Windfall

/// The SDK as apps use it, with files, without a connection.
final class StandardSdkTests: DeviceTestCase {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    /// Nothing listens there.
    private let options = Options(url: "http://127.0.0.1:9", bundleId: "com.example.lantern", device: currentDevice())

    override func setUp() {
        super.setUp()
        // Where Application Support is on Linux.
        setenv("XDG_DATA_HOME", folder.path, 1)
    }

    override func tearDown() async throws {
        try await super.tearDown()
        unsetenv("XDG_DATA_HOME")
        try? FileManager.default.removeItem(at: folder)
    }

    func testWhatWaitsOutlivesTheProcess() async {
        let first = Sdk.standard()
        first.core.identify("user-1", attributes: ["plan": "pro"])
        first.configure(options, autoTrack: false, keychain: true)
        await waitForCall { first.record(.verified(.stub(id: 1)), done: $0) }
        let second = Sdk.standard()
        second.configure(options, autoTrack: false, keychain: true)
        let state = await second.core.debugState()
        XCTAssertEqual(state.queue.map(\.call), [.identify, .attribute])
        XCTAssertEqual(state.appUserId, "user-1")
        XCTAssertEqual(state.storage, .ok)
        let kept = StubKeychain.shared.contents.first { $0.key.hasSuffix("/anonymousId") }
        XCTAssertEqual(kept.map { String(decoding: $0.value.data, as: UTF8.self) }, state.anonymousId)
    }

    func testWithoutABundleIdNothingIsSentAndStateSaysSo() async {
        let sdk = Sdk.standard()
        sdk.core.identify("user-1")
        sdk.configure(Options(url: "https://windfall.example.com", bundleId: nil), autoTrack: false, keychain: false)
        let state = await sdk.core.debugState()
        XCTAssertFalse(state.configured)
        XCTAssertEqual(state.queue, [])
    }
}
