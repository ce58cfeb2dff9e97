import Combine
import StoreKit
import Windfall

/// Loads what is for sale, and buys it.
@MainActor
final class Store: ObservableObject {
    private static let productIds = ["pro_monthly"]

    @Published private(set) var products: [Product] = []
    @Published private(set) var message = ""

    init() {
        // Ask to Buy and renewals. The SDK reports them, and finishes nothing.
        Task {
            for await case .verified(let transaction) in Transaction.updates { await transaction.finish() }
        }
    }

    func load() async {
        do {
            products = try await Product.products(for: Self.productIds)
        } catch {
            message = error.localizedDescription
        }
    }

    func buy(_ product: Product) async {
        do {
            let result = try await product.purchase()
            // StoreKit does not deliver this result to observers.
            await Windfall.record(result)
            switch result {
            case .success(.verified(let transaction)):
                message = "Thank you."
                await transaction.finish()
            case .success(.unverified):
                message = "The purchase could not be verified."
            case .pending:
                message = "The purchase waits for approval."
            case .userCancelled:
                message = ""
            @unknown default:
                message = ""
            }
        } catch {
            message = error.localizedDescription
        }
    }
}
