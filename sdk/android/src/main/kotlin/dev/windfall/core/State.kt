package dev.windfall.core

/**
 * What is stored beside the queue, as one text: what changes together is one write, which a kill cuts before or after. An
 * intention (`pending`) is stored with the change of user, and what follows from it is queued again after a kill.
 */
internal class State(var anonymousId: String) {
    /** An accepted purchase. `user` is its last user, `isKnown` says whether a known user ever had it. */
    class Known(val id: String, val isKnown: Boolean, val user: String)

    /** A purchase that was refused with `code` at `at`. */
    class Refused(val item: Item, val at: Long, val code: String)

    /** Why a destination has to wait: after lost connections, or since the item `sequence` was kept. */
    class Kept(val wait: Wait, val tries: Int = 0, val sequence: String? = null, val since: Long? = null)

    var user: String? = null

    /** Attributes and purchases that were reported under the anonymous id. */
    var attributes: Attributes = emptyMap()
    var purchases: List<Sale> = emptyList()

    /** What is to be queued for the user, because who it is changed. */
    var pending: List<Item> = emptyList()

    /** The accepted identify calls of the last user, summed up. */
    var accepted: Item? = null
    var known: List<Known> = emptyList()
    var refused: List<Refused> = emptyList()
    val waits = HashMap<String, Kept>()

    /** The id that calls are made under now. */
    val current get() = user ?: anonymousId

    /** Drops what is too old. */
    fun prune(now: Long) {
        refused = refused.filter { now - it.at <= REFUSED_DAYS * DAY_MS }
    }

    /** Keeps what identify will report again. */
    fun keepReported(sale: Sale) {
        purchases = purchases.filter { it.id != sale.id } + sale
    }

    fun acceptPurchase(sale: Sale, user: String) {
        val wasKnown = known.any { it.id == sale.id && it.isKnown }
        val others = known.filter { it.id != sale.id }.takeLast(MOST_KNOWN - 1)
        known = others + Known(sale.id, wasKnown || !isAnonymous(user), user)
    }

    /** Keeps a purchase that will not be sent again where the app can see it. */
    fun lose(item: Item, code: String, now: Long) {
        if (item.purchase != null) refused = (refused + Refused(item, now, code)).takeLast(MOST_REFUSED)
    }

    private companion object {
        const val MOST_KNOWN = 500
        const val MOST_REFUSED = 100
        const val REFUSED_DAYS = 30
    }
}
