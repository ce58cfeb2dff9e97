package com.example.lantern

import android.app.Activity
import android.content.Context
import com.android.billingclient.api.AcknowledgePurchaseParams
import com.android.billingclient.api.BillingClient
import com.android.billingclient.api.BillingClientStateListener
import com.android.billingclient.api.BillingFlowParams
import com.android.billingclient.api.BillingResult
import com.android.billingclient.api.PendingPurchasesParams
import com.android.billingclient.api.ProductDetails
import com.android.billingclient.api.Purchase
import com.android.billingclient.api.PurchasesUpdatedListener
import com.android.billingclient.api.QueryProductDetailsParams
import com.android.billingclient.api.QueryPurchasesParams
import dev.windfall.Windfall

/** Loads what is for sale, and buys it. */
class Store(context: Context, private val loaded: (ProductDetails?) -> Unit) :
    PurchasesUpdatedListener,
    BillingClientStateListener {
    private val billing = BillingClient.newBuilder(context)
        .setListener(this)
        .enablePendingPurchases(PendingPurchasesParams.newBuilder().enableOneTimeProducts().build())
        .build()

    fun open() = billing.startConnection(this)

    fun close() = billing.endConnection()

    override fun onBillingSetupFinished(result: BillingResult) {
        if (result.responseCode != BillingClient.BillingResponseCode.OK) return
        loadProduct()
        val subscriptions = QueryPurchasesParams.newBuilder().setProductType(BillingClient.ProductType.SUBS).build()
        billing.queryPurchasesAsync(subscriptions) { _, purchases -> take(purchases) }
    }

    override fun onBillingServiceDisconnected() = Unit

    override fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?) = take(purchases.orEmpty())

    fun buy(activity: Activity, product: ProductDetails) {
        val offer = product.subscriptionOfferDetails?.firstOrNull() ?: return
        val choice = BillingFlowParams.ProductDetailsParams.newBuilder()
            .setProductDetails(product)
            .setOfferToken(offer.offerToken)
            .build()
        val flow = BillingFlowParams.newBuilder().setProductDetailsParamsList(listOf(choice)).build()
        billing.launchBillingFlow(activity, flow)
    }

    private fun loadProduct() {
        val product = QueryProductDetailsParams.Product.newBuilder()
            .setProductId(PRODUCT)
            .setProductType(BillingClient.ProductType.SUBS)
            .build()
        val query = QueryProductDetailsParams.newBuilder().setProductList(listOf(product)).build()
        billing.queryProductDetailsAsync(query) { _, found -> loaded(found.productDetailsList.firstOrNull()) }
    }

    private fun take(purchases: List<Purchase>) {
        for (purchase in purchases) {
            // One that is pending is not paid yet.
            if (purchase.purchaseState != Purchase.PurchaseState.PURCHASED) continue
            Windfall.attributePurchase(purchase.purchaseToken, purchase.products)
            if (!purchase.isAcknowledged) acknowledge(purchase)
        }
    }

    /** Google Play gives the money back for a purchase that nobody acknowledges. */
    private fun acknowledge(purchase: Purchase) {
        val params = AcknowledgePurchaseParams.newBuilder().setPurchaseToken(purchase.purchaseToken).build()
        billing.acknowledgePurchase(params) {}
    }

    private companion object {
        const val PRODUCT = "pro_monthly"
    }
}
