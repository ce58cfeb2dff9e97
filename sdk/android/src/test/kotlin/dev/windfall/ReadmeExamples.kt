package dev.windfall

import android.app.Application
import com.android.billingclient.api.BillingResult
import com.android.billingclient.api.Purchase
import com.android.billingclient.api.PurchasesUpdatedListener

/** The Kotlin of the README, as it is printed there. */
class LanternApp : Application() {
    override fun onCreate() {
        super.onCreate()
        Windfall.configure(this, "https://windfall.example.com")
    }
}

class Purchases : PurchasesUpdatedListener {
    override fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?) {
        for (purchase in purchases.orEmpty()) {
            if (purchase.purchaseState != Purchase.PurchaseState.PURCHASED) continue
            Windfall.attributePurchase(purchase.purchaseToken, purchase.products)
        }
    }
}

fun api() {
    Windfall.identify("user-1", mapOf("plan" to "pro", "seats" to 3))
    Windfall.setAttributes(mapOf("onboarded" to true, "coupon" to null))
    Windfall.attributePurchase("purchase-token", "pro_monthly")
    Windfall.reset()
}
