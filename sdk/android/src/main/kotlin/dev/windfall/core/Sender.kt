package dev.windfall.core

import kotlin.math.max

/** What to do next: send an item, or wait. Null milliseconds: until something happens. */
internal sealed class Next {
    class Send(val entry: Entry) : Next()

    class Wait(val milliseconds: Long?) : Next()
}

/** The next item to send. A destination whose first item has to wait waits as a whole. */
internal fun Engine.pick(): Next {
    // What comes back after a kill would be sent out of order.
    if (store.retry()) return Next.Wait(jitter(environment.random(), 5, SOFT_MS))
    var soonest: Long? = null
    val seen = HashSet<String>()
    for (entry in entries) {
        val lane = entry.item.lane
        if (!seen.add(lane)) continue
        val left = max(state.waits[lane]?.wait?.left(now) ?: 0, soft[lane]?.wait?.left(now) ?: 0)
        if (left == 0L) return Next.Send(entry)
        soonest = minOf(soonest ?: left, left)
    }
    return Next.Wait(soonest)
}

/** Sends an item, one at a time. */
internal fun Engine.send(entry: Entry) {
    val item = entry.item
    val headers = sortedMapOf("content-type" to "application/json", "x-windfall-unattested" to "unsupported")
    val key = target?.let { if (item.lane == it.lane) it.key else item.key }
    if (key != null) headers["authorization"] = "Bearer $key"
    val url = "${item.url}/api/sdk/v1/${item.call.path}"
    val request = Request(url, headers, Json.text(bodyOf(item)))
    inFlight = entry.name
    environment.network.post(request) { answer ->
        try {
            settle(entry.name, answer)
        } finally {
            // Without the memory to take an answer, the next event tries again.
            inFlight = null
        }
        pump()
    }
}

/** The body of a call, by the server's names. */
private fun bodyOf(item: Item): Map<String, Any?> = mapOf(
    "appUserId" to item.user,
    "bundleId" to item.bundleId,
    "platform" to if (item.purchase == null) item.device?.platform else ANDROID,
    "osVersion" to item.device?.osVersion,
    "deviceModel" to item.device?.deviceModel,
    "locale" to item.device?.locale,
    "attributes" to item.attributes?.ifEmpty { null },
    // The server's name for the id of a purchase in each store.
    "originalTransactionId" to item.purchase?.id,
    "productId" to item.purchase?.productId,
).filterValues { it != null }

/** The platform of the device, and of purchases by Google Play. */
internal const val ANDROID = "android"
