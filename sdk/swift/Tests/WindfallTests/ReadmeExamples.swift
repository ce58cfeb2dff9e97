import StoreKit
import Windfall

/// What the documents show, so that the compiler sees it. ``DocumentTests`` compares.
enum ReadmeExamples {
    static func start() {
        Windfall.configure(url: "https://windfall.example.com")
    }

    static func identify() {
        Windfall.identify("user-1")
    }

    static func look() async {
        let state = await Windfall.debugState()
        print(state.lastAnswer ?? "no answer yet", state.queue.count)
    }

    static func buy(_ product: Shop) async throws {
        let result = try await product.purchase()
        await Windfall.record(result)
        if case .success(.verified(let transaction)) = result {
            await transaction.finish()
        }
    }

    static func calls() {
        Windfall.identify("user-1", attributes: ["plan": "pro", "seats": 3])
        Windfall.identify("user-1", attributes: ["plan": "pro"])
        Windfall.setAttributes(["onboarded": true, "coupon": nil])
        Windfall.attributePurchase(originalTransactionId: "2000000123456789", productId: "pro_monthly")
        Windfall.reset()
    }

    /// The forms that wait, from another actor.
    @MainActor
    static func waits() async -> Int {
        await Windfall.identify("user-1", attributes: ["seats": .int(3)])
        await Windfall.setAttributes(["plan": .string("pro")])
        await Windfall.attributePurchase(originalTransactionId: "2000000123456789")
        await Windfall.reset()
        await Windfall.flush()
        return await Windfall.debugState().queue.count
    }
}

/// What an app has of StoreKit that the SDK does not use.
struct Shop {
    func purchase() async throws -> Product.PurchaseResult { .userCancelled }
}

extension Transaction {
    fileprivate func finish() async {}
}
