package dev.windfall

import dev.windfall.core.Item
import dev.windfall.core.Snapshot
import dev.windfall.core.State
import java.util.Date

/** What the SDK knows, for a debug screen. */
public class DebugState internal constructor(snapshot: Snapshot) {
    /** The two calls of the server. */
    public enum class Call { IDENTIFY, ATTRIBUTE }

    /** The state of the storage. */
    public enum class Storage {
        OK,

        /** The storage refused a write, or cannot be read. What could not be stored is in memory. */
        FAILING,
    }

    /** A call that waits to be sent. */
    public class Waiting internal constructor(item: Item) {
        public val call: Call = if (item.call == Item.Call.IDENTIFY) Call.IDENTIFY else Call.ATTRIBUTE
        public val appUserId: String = item.user
        public val at: Date = Date(item.at)
        public val purchaseToken: String? = item.purchase?.id
    }

    /** Whether [Windfall.configure] had an address and a bundle id. */
    public val isConfigured: Boolean = snapshot.isConfigured

    /** The id that calls are made under now: yours, or the anonymous one. */
    public val appUserId: String? = snapshot.appUserId
    public val anonymousId: String? = snapshot.anonymousId

    /** What waits to be sent, in order. */
    public val queue: List<Waiting> = snapshot.queue.map { Waiting(it) }

    /** Purchases that were refused for good in the last 30 days. */
    public val refused: List<RefusedPurchase> = snapshot.refused.map { RefusedPurchase(it) }
    public val storage: Storage = if (snapshot.isStored) Storage.OK else Storage.FAILING

    /** The last answer, such as `200`, `403 app_not_in_organization` or `no connection`. */
    public val lastAnswer: String? = snapshot.lastAnswer

    override fun toString(): String = "configured: $isConfigured, user: $appUserId, anonymous id: $anonymousId, " +
        "waiting: ${queue.size}, refused: ${refused.size}, storage: $storage, last answer: $lastAnswer"
}

/** A purchase that will not be sent again. [code] says why. */
public class RefusedPurchase internal constructor(refused: State.Refused) {
    public val code: String = refused.code
    public val appUserId: String = refused.item.user
    public val purchaseToken: String = refused.item.purchase?.id.orEmpty()
    public val productId: String? = refused.item.purchase?.productId
    public val at: Date = Date(refused.at)
}
