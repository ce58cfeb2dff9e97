package dev.windfall

import android.content.Context
import java.util.function.Consumer

/**
 * Tells your own Windfall which of your users bought what, from apps with Google Play Billing.
 *
 * All functions may be called from any thread. They return at once, take effect in the order of their calls, and throw
 * nothing. `done` runs on the main thread when the call is stored, so that a kill cannot lose it. Before [configure], and
 * while the device cannot read its storage, it runs at once, and the call waits in memory.
 */
public object Windfall {
    private val sdk = Sdk()

    /**
     * Starts the SDK. Call it in `Application.onCreate`. Calls before it wait in memory, at most 100. A second call changes
     * the options.
     *
     * @param url the address of your Windfall
     * @param key a publishable key, where your Windfall demands one
     * @param bundleId instead of the application id
     * @param debug gets a line about each thing that happens, on a background thread
     */
    @JvmStatic
    @JvmOverloads
    public fun configure(
        context: Context,
        url: String?,
        key: String? = null,
        bundleId: String? = null,
        debug: Consumer<String>? = null,
    ): Unit = sdk.configure(context, url, key, bundleId, debug)

    /**
     * Says who the user is. Call it after login and at each start: nothing is sent if nothing changed. What was reported
     * anonymously since the last [reset] is reported again for this user. Another user without a [reset] between moves
     * nothing.
     *
     * @param userId 1 to 256 characters, without spaces around it. Placeholders such as `guest`, `0` or `null` are left out
     * @param attributes texts up to 1,024 characters, finite numbers, Booleans or null, with names up to 64 characters
     */
    @JvmStatic
    @JvmOverloads
    public fun identify(userId: String?, attributes: Map<String, Any?>? = null, done: Runnable? = null): Unit =
        sdk.identify(userId, attributes, done)

    /** Sets attributes of the user, or of the anonymous id. Others stay. Null replaces what was stored. */
    @JvmStatic
    @JvmOverloads
    public fun setAttributes(attributes: Map<String, Any?>?, done: Runnable? = null): Unit =
        sdk.setAttributes(attributes, done)

    /**
     * Reports a purchase of the current user. It is always sent.
     *
     * @param purchaseToken `Purchase.getPurchaseToken()` of Play Billing
     * @param productId the first product of the purchase
     */
    @JvmStatic
    @JvmOverloads
    public fun attributePurchase(purchaseToken: String?, productId: String? = null, done: Runnable? = null): Unit =
        sdk.attributePurchase(purchaseToken, productId, isObserved = false, done)

    /**
     * Reports a purchase as Play Billing lists it, in its listener and in the result of `queryPurchasesAsync`, as often as it
     * comes. It is sent once for a user, and never for an anonymous id if a known user of this install has it. Do not pass
     * purchases whose state is `PENDING`: they are not paid yet.
     *
     * @param purchaseToken `Purchase.getPurchaseToken()`
     * @param products `Purchase.getProducts()`; the first one is reported
     */
    @JvmStatic
    @JvmOverloads
    public fun attributePurchase(purchaseToken: String?, products: List<String>?, done: Runnable? = null): Unit =
        sdk.attributePurchase(purchaseToken, products, done)

    /** Makes a new anonymous id. Call it at logout. What waits for the user is still sent. */
    @JvmStatic
    @JvmOverloads
    public fun reset(done: Runnable? = null): Unit = sdk.reset(done)

    /** Tries to send now. `done` runs when all that need not wait was sent. */
    @JvmStatic
    @JvmOverloads
    public fun flush(done: Runnable? = null): Unit = sdk.flush(done)

    /** Passes what the SDK knows to `done`, on the main thread. */
    @JvmStatic
    public fun debugState(done: Consumer<DebugState>): Unit = sdk.debugState(done)
}
