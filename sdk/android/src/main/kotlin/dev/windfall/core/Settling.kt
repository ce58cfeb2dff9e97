package dev.windfall.core

import kotlin.math.max
import kotlin.math.min

/*
 * What an answer means. That is recorded before the item is removed, so that a kill between the two only repeats the request.
 */

private const val KEPT_DAYS = 30

/** The parts of an answer that count. */
private class Reply(answer: Answer?) {
    val status = answer?.status ?: 0
    val fields = Json.fields(answer?.body)
    val code = fields.string("code")
    val retryAfter = retryAfterMs(answer?.retryAfter)

    override fun toString() = when {
        status == 0 -> "no connection"
        code == null -> "$status"
        else -> "$status $code"
    }

    /** Whether the status counts like a lost connection. */
    val isLate get() = status == 0 || status == 408 || status == 429 || status >= 500

    /** The paths of the fields that the server refused. */
    val paths get() = fields.list("errors").map { Fields(it).string("path").orEmpty() }

    /** Whether it accepts this call, in our words. */
    fun accepts(item: Item): Boolean {
        if (status !in 200..299 || fields.string("appUserId") != item.user) return false
        val sale = item.purchase ?: return fields.string("bundleId") == item.bundleId
        return fields.string("originalTransactionId") == sale.id
    }
}

/** Records what an answer means, and removes the item if it is done. */
internal fun Engine.settle(name: String, answer: Answer?) {
    val item = entries.firstOrNull { it.name == name }?.item ?: return
    val reply = Reply(answer)
    lastAnswer = "$reply"
    debug("${item.call.path} for ${item.user}: $reply")
    val softTries = soft.remove(item.lane)?.tries ?: 0
    if (reply.isLate && reply.retryAfter == null) {
        val wait = Wait.from(now, jitter(environment.random(), softTries, SOFT_MS))
        soft[item.lane] = State.Kept(wait, softTries + 1)
        return
    }
    state.prune(now)
    val isDone = record(name, item, reply)
    saveState()
    if (isDone) remove(name)
}

/** Returns whether the item is done. */
private fun Engine.record(name: String, item: Item, reply: Reply): Boolean {
    val before = state.waits.remove(item.lane)
    if (reply.isLate && reply.retryAfter != null) {
        val wait = Wait.from(now, reply.retryAfter + (environment.random() * 1000).toLong())
        state.waits[item.lane] = State.Kept(wait, before?.tries ?: 0, before?.sequence, before?.since)
        return false
    }
    if (!reply.accepts(item)) return refuse(name, item, before, reply)
    accept(item)
    return true
}

private fun Engine.accept(item: Item) {
    val sale = item.purchase
    if (sale != null) return state.acceptPurchase(sale, item.user)
    if (item.user != state.current) return
    val before = state.accepted?.takeIf { it.user == item.user && it.lane == item.lane }
    state.accepted = before?.joined(item) ?: item
}

/** A refusal counts by its `code`, not by its status. Without one it is not ours. Returns whether the item is done. */
private fun Engine.refuse(name: String, item: Item, before: State.Kept?, reply: Reply): Boolean {
    val code = reply.code ?: return keep(name, item, before, "not_windfall")
    if (code != "invalid_request" && reply.status !in setOf(410, 413, 422)) return keep(name, item, before, code)
    if (dropAttributes(name, item, reply.paths)) return false
    lose(item, code)
    return true
}

/** Backs off to a day. Returns true to give up, 30 days after the first such answer. */
private fun Engine.keep(name: String, item: Item, before: State.Kept?, code: String): Boolean {
    val sequence = Entry(name, item, 0).sequence
    val same = before?.takeIf { it.sequence == sequence }
    val since = min(now, same?.since ?: now)
    // Attributes that joined later have their own 30 days.
    if (now - max(since, min(now, item.at)) >= KEPT_DAYS * DAY_MS) {
        lose(item, code)
        return true
    }
    val tries = same?.tries ?: 0
    val wait = Wait.from(now, jitter(environment.random(), tries, DAY_MS))
    state.waits[item.lane] = State.Kept(wait, tries + 1, sequence, since)
    return false
}

/**
 * Leaves out the attributes that the server named, or the last if it named none. The item changes in memory only: after a
 * kill they are refused again.
 */
private fun Engine.dropAttributes(name: String, item: Item, paths: List<String>): Boolean {
    val given = item.attributes.orEmpty()
    if (given.isEmpty() || paths.isEmpty() || !paths.all { it.startsWith("attributes") }) return false
    val names = given.keys.sorted()
    val refused = names.filter { "attributes.$it" in paths }.ifEmpty { listOf(names.last()) }
    for (attribute in refused) debug("attribute $attribute was refused and left out")
    val at = entries.indexOfFirst { it.name == name }
    entries[at] = entries[at].with(item.copy(attributes = given - refused.toSet()))
    return true
}
