import StoreKit
import XCTest

@testable import Windfall

/// What is reported of the purchases that StoreKit has and delivers.
final class StoreTests: DeviceTestCase {
    private let store = StubStore.shared
    private let revoked = Date(timeIntervalSince1970: 1_790_000_000)

    /// A process of the app that ends when so many purchases are accepted.
    private func runUntilReported(_ count: Int) async {
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(count)
        await sdk.core.flush()
    }

    func testAPurchaseOnThisDeviceIsReportedOnceWithItsProof() async {
        let sdk = phone.launch()
        await sdk.start()
        let bought = VerificationResult.verified(Transaction.stub(id: 1))
        sdk.record(.success(bought))
        await server.waitForPurchases(1)
        // StoreKit delivers it again, finished or not.
        store.deliver(bought)
        store.deliver(bought)
        store.deliver(.verified(.stub(id: 2)))
        await server.waitForPurchases(2)
        XCTAssertEqual(reported, ["1", "2"])
        XCTAssertEqual(server.purchases.first?.body["originalTransactionId"], "1")
        XCTAssertEqual(server.purchases.first?.body["productId"], "pro_monthly")
        XCTAssertEqual(server.purchases.first?.body["jws"], bought.jwsRepresentation)
    }

    func testAResultWithoutATransactionReportsNothing() async {
        let sdk = phone.launch()
        await sdk.start()
        sdk.record(.userCancelled)
        sdk.record(.pending)
        sdk.record(.success(.verified(.stub(id: 1))))
        await server.waitForPurchases(1)
        XCTAssertEqual(reported, ["1"])
    }

    func testTheFormsThatWaitReturnWhateverTheResult() async {
        let sdk = phone.launch()
        await sdk.start()
        let results: [Product.PurchaseResult] = [
            .pending, .success(.unverified(.stub(id: 1), .invalidSignature)), .success(.verified(.stub(id: 2))),
        ]
        for result in results {
            await waitForCall { sdk.record(result, done: $0) }
        }
        await sdk.core.flush()
        XCTAssertEqual(reported, ["2"])
    }

    func testAPurchaseOnAnotherDeviceIsReportedWhenItIsDelivered() async {
        await phone.launch().start()
        store.deliver(.verified(.stub(id: 7, product: "pro_yearly")))
        await server.waitForPurchases(1)
        XCTAssertEqual(server.purchases.first?.body["productId"], "pro_yearly")
    }

    func testAnUnverifiedTransactionIsNeverReported() async {
        store.entitlements = [.unverified(.stub(id: 1), .invalidSignature)]
        store.history = [.unverified(.stub(id: 2), .invalidSignature), .verified(.stub(id: 3))]
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(1)
        sdk.record(.success(.unverified(.stub(id: 4), .invalidSignature)))
        store.deliver(.unverified(.stub(id: 5), .invalidSignature))
        store.deliver(.verified(.stub(id: 6)))
        await server.waitForPurchases(2)
        XCTAssertEqual(reported, ["3", "6"])
    }

    func testAfterAReinstallEachPurchaseIsReportedOnce() async {
        // A subscription with two renewals, of which the last is the entitlement; a purchase that expired long ago.
        store.entitlements = [.verified(.stub(id: 12, original: 10))]
        store.history = [
            .verified(.stub(id: 12, original: 10)), .verified(.stub(id: 11, original: 10)), .verified(.stub(id: 10)),
            .verified(.stub(id: 6, original: 5, expires: .distantPast)), .verified(.stub(id: 5, expires: .distantPast)),
        ]
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(2)
        await sdk.core.flush()
        XCTAssertEqual(reported, ["12", "5"])
    }

    func testAPurchaseWhoseOriginalIsGoneIsReportedByWhatIsLeft() async {
        store.history = [.verified(.stub(id: 22, original: 20)), .verified(.stub(id: 21, original: 20))]
        await phone.launch().start()
        await server.waitForPurchases(1)
        XCTAssertEqual(reported, ["22"])
        XCTAssertEqual(server.purchases.first?.body["originalTransactionId"], "20")
    }

    func testAPurchaseThatAFamilyMemberSharesIsReported() async {
        store.entitlements = [.verified(.stub(id: 1, ownership: "FAMILY_SHARED"))]
        await phone.launch().start()
        await server.waitForPurchases(1)
        XCTAssertEqual(reported, ["1"])
    }

    func testARefundIsReportedOnlyIfThePurchaseNeverWas() async {
        store.history = [.verified(.stub(id: 1, revoked: revoked))]
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(1)
        store.deliver(.verified(.stub(id: 2)))
        await server.waitForPurchases(2)
        // The purchase itself, and a renewal of it that the device never saw.
        store.deliver(.verified(.stub(id: 2, revoked: revoked)))
        store.deliver(.verified(.stub(id: 3, original: 2, revoked: revoked)))
        store.deliver(.verified(.stub(id: 4, revoked: revoked)))
        await server.waitForPurchases(3)
        XCTAssertEqual(reported, ["1", "2", "4"])
    }

    func testARenewalWhileTheAppWasOffIsReportedAtTheNextStart() async {
        store.deliver(.verified(.stub(id: 1)))
        await runUntilReported(1)
        store.reset()
        store.entitlements = [.verified(.stub(id: 2, original: 1))]
        store.history = [.verified(.stub(id: 2, original: 1)), .verified(.stub(id: 1))]
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(2)
        await sdk.core.flush()
        XCTAssertEqual(reported, ["1", "2"])
    }

    func testNothingIsReportedAgainAtTheNextStart() async {
        store.entitlements = [.verified(.stub(id: 1))]
        store.history = store.entitlements
        await runUntilReported(1)
        let sdk = phone.launch()
        await sdk.start()
        await sdk.core.flush()
        XCTAssertEqual(reported, ["1"])
    }

    func testAPurchaseBeforeTheLoginIsReportedAgainForTheUser() async {
        let sdk = phone.launch()
        await sdk.start()
        sdk.record(.success(.verified(.stub(id: 1))))
        await server.waitForPurchases(1)
        sdk.core.identify("user-1")
        await server.waitForPurchases(2)
        XCTAssertEqual(reported, ["1", "1"])
        XCTAssertEqual(server.purchases.first?.body["appUserId"]?.hasPrefix("$anon_"), true)
        XCTAssertEqual(server.purchases.last?.body["appUserId"], "user-1")
    }

    func testAfterTheLogoutNothingIsReportedForTheNewAnonymousId() async {
        store.entitlements = [.verified(.stub(id: 1))]
        let sdk = phone.launch()
        sdk.core.identify("user-1")
        await sdk.start()
        await server.waitForPurchases(1)
        sdk.core.reset()
        await sdk.core.flush()
        XCTAssertEqual(server.purchases.map { $0.body["appUserId"] }, ["user-1"])
    }

    func testADeliveryThatRepeatsDoesNotMoveThePurchaseToTheNextUser() async {
        let sdk = phone.launch()
        sdk.core.identify("user-1")
        await sdk.start()
        let delivery = VerificationResult.verified(Transaction.stub(id: 1))
        store.deliver(delivery)
        await server.waitForPurchases(1)
        sdk.record(.success(.verified(.stub(id: 2))))
        await server.waitForPurchases(2)
        sdk.core.identify("user-2")
        store.deliver(delivery)
        store.deliver(.verified(.stub(id: 2)))
        store.deliver(.verified(.stub(id: 3)))
        await server.waitForPurchases(3)
        XCTAssertEqual(reported, ["1", "2", "3"])
        XCTAssertEqual(server.purchases.last?.body["appUserId"], "user-2")
    }

    func testASecondConfigureListensOnce() async {
        let sdk = phone.launch()
        await sdk.start()
        await sdk.start()
        store.deliver(.verified(.stub(id: 1)))
        await server.waitForPurchases(1)
        XCTAssertEqual(store.updateReads, 1)
    }

    func testWithoutAutoTrackOnlyWhatTheAppRecordsIsReported() async {
        store.entitlements = [.verified(.stub(id: 1))]
        let sdk = phone.launch()
        await sdk.start(autoTrack: false)
        sdk.record(.verified(.stub(id: 2)))
        await server.waitForPurchases(1)
        XCTAssertEqual(reported, ["2"])
        XCTAssertEqual(store.updateReads, 0)
    }

    func testXcodesLocalStoreIsMentionedOnce() async {
        store.entitlements = [.verified(.stub(id: 0, environment: "Xcode"))]
        let sdk = phone.launch()
        await sdk.start()
        await server.waitForPurchases(1)
        sdk.record(.success(.verified(.stub(id: 1, environment: "Xcode"))))
        store.deliver(.verified(.stub(id: 2)))
        await server.waitForPurchases(3)
        XCTAssertEqual(reported, ["0", "1", "2"])
        XCTAssertEqual(phone.warnings.all.filter { $0.contains("Xcode") }.count, 1)
    }
}
