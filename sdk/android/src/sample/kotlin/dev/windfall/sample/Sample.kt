package dev.windfall.sample

import android.content.Context
import dev.windfall.DebugState
import dev.windfall.RefusedPurchase
import dev.windfall.Windfall

/** An app that calls every public function of the SDK, in Kotlin and in Java. */
object Sample {
    /** Calls the Windfall at [url], and prints what the SDK knows. */
    @JvmStatic
    fun run(context: Context, url: String) {
        Windfall.configure(context, url, "pk_live_1", "com.example.sample") { println(it) }
        Windfall.identify("kotlin", mapOf("plan" to "pro")) { println("stored") }
        Windfall.setAttributes(mapOf("seats" to 3)) { println("stored") }
        Windfall.attributePurchase("token-1", "pro") { println("stored") }
        Windfall.attributePurchase("token-2", listOf("pro")) { println("stored") }
        Windfall.reset { println("stored") }
        short(context, url)
        SampleInJava.run(context, url)
        Windfall.flush { println("sent") }
        Windfall.debugState { print(it) }
    }

    private fun short(context: Context, url: String) {
        Windfall.configure(context, url)
        Windfall.identify("kotlin")
        Windfall.setAttributes(mapOf("seats" to 3))
        Windfall.attributePurchase("token-1")
        Windfall.attributePurchase("token-2", listOf("pro"))
        Windfall.reset()
        Windfall.flush()
    }

    private fun print(state: DebugState) {
        println(listOf(state.isConfigured, state.appUserId, state.anonymousId, state.storage, state.lastAnswer))
        for (call in state.queue) println(listOf(call.call, call.appUserId, call.at, call.purchaseToken))
        for (one in state.refused) print(one)
    }

    private fun print(refused: RefusedPurchase) =
        println(refused.run { listOf(code, appUserId, purchaseToken, productId, at) })
}
