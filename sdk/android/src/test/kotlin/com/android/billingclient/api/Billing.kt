package com.android.billingclient.api

/** Stand-ins for the names of Play Billing that the README uses, because its library is not among what the tests can load. */
class Purchase(val purchaseToken: String, val products: List<String>, val purchaseState: Int) {
    object PurchaseState {
        const val PURCHASED = 1
        const val PENDING = 2
    }
}

class BillingResult

interface PurchasesUpdatedListener {
    fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?)
}
