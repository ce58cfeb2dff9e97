import Foundation
import Network
import StoreKit
import UIKit
import XCTest

@testable import Windfall

/// What wakes the SDK, and what it does in the background.
final class LifecycleTests: DeviceTestCase {
    private let application = StubApplication.shared

    /// An SDK that watches the system.
    private func watching() async -> Sdk {
        let sdk = phone.launch()
        await sdk.start()
        return sdk
    }

    func testTheForegroundReadsStoreKitAgain() async {
        let sdk = await watching()
        StubStore.shared.entitlements = [.verified(.stub(id: 1))]
        await post(UIApplication.willEnterForegroundNotification)
        await server.waitForPurchases(1)
        XCTAssertEqual(reported, ["1"])
        withExtendedLifetime(sdk) {}
    }

    func testTheBackgroundTaskEndsWhenAllIsSent() async {
        let sdk = await watching()
        server.hold()
        sdk.core.identify("user-1")
        await post(UIApplication.didEnterBackgroundNotification)
        XCTAssertEqual(application.running, 1)
        server.release()
        await waitForCall { application.whenNoneRuns($0) }
        XCTAssertEqual(server.calls.map(\.path), ["identify"])
    }

    func testTheBackgroundTaskEndsWhenTheTimeIsOver() async {
        let sdk = await watching()
        server.hold()
        sdk.core.identify("user-1")
        await post(UIApplication.didEnterBackgroundNotification)
        XCTAssertEqual(application.running, 1)
        await application.expireBackgroundTime()
        XCTAssertEqual(application.running, 0)
        server.release()
        await sdk.core.flush()
        await runMainActor()
        XCTAssertEqual(application.begun, 1)
        XCTAssertEqual(application.strayEnds, 0)
    }

    func testWithoutBackgroundTimeItSendsAllTheSame() async {
        application.refusesBackgroundTime = true
        let sdk = await watching()
        sdk.core.identify("user-1")
        await post(UIApplication.didEnterBackgroundNotification)
        await sdk.core.flush()
        await runMainActor()
        XCTAssertEqual(server.calls.map(\.path), ["identify"])
        XCTAssertEqual(application.strayEnds, 0)
    }

    func testAnAppExtensionHasNoBackgroundTime() async {
        application.isExtension = true
        let sdk = await watching()
        sdk.core.identify("user-1")
        await post(UIApplication.didEnterBackgroundNotification)
        await server.wait { !$0.isEmpty }
        XCTAssertEqual(application.begun, 0)
        XCTAssertEqual(server.calls.map(\.path), ["identify"])
    }

    func testANetworkThatIsBackWakesTheQueue() async {
        let sdk = await watching()
        // After the path that a monitor hears when it starts.
        StubNetwork.shared.change(to: .satisfied)
        server.isOffline = true
        sdk.core.identify("user-1")
        await sdk.core.flush()
        server.isOffline = false
        StubNetwork.shared.change(to: .unsatisfied)
        // A wake would have sent by then.
        for _ in 0..<100 { _ = await sdk.core.debugState() }
        XCTAssertEqual(server.calls, [])
        StubNetwork.shared.change(to: .satisfied)
        await server.wait { !$0.isEmpty }
        XCTAssertEqual(server.calls.map(\.path), ["identify"])
    }

    func testASecondConfigureMonitorsOnce() async {
        let sdk = await watching()
        await sdk.lifecycle.watch(core: sdk.core, store: sdk.store)
        XCTAssertEqual(StubNetwork.shared.monitorCount, 1)
    }
}

/// UIKit posts on the main thread.
@MainActor
private func post(_ name: Notification.Name) {
    NotificationCenter.default.post(name: name, object: nil)
}

/// Lets the main actor do what waits for it.
private func runMainActor() async {
    for _ in 0..<100 { await MainActor.run {} }
}
