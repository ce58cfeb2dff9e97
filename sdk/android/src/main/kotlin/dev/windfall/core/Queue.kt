package dev.windfall.core

/*
 * The queue: one stored text per item, `q.<sequence>.<version>.<random>`. The text below a name never changes. A changed item
 * is a new name with the same sequence and the next version, written before the old one is removed: a kill between the two
 * leaves both, in the order in which they may be sent.
 */

private const val MOST_ITEMS = 1000
private const val MOST_BYTES = 1_000_000

/** Below the server's 64 KiB, with room for the other fields. */
internal const val MOST_BODY_BYTES = 48_000

/** Adds to the end. Attributes join those of the same user, if no purchase of that user lies between. */
internal fun Engine.add(item: Item) {
    if (item.call != Item.Call.IDENTIFY || !join(item)) append(item)
    evict()
}

private fun Engine.append(item: Item) {
    last += 1
    val text = Json.text(item.toJson())
    val name = newName(padded(last, 12), 0)
    store.write(name, text)
    entries += Entry(name, item, bytesOf(text))
}

private fun Engine.join(item: Item): Boolean {
    val at = entries.indexOfLast { it.item.user == item.user && it.item.lane == item.lane }
    val before = entries.getOrNull(at) ?: return false
    if (before.item.call != Item.Call.IDENTIFY || before.name == inFlight) return false
    val joined = before.item.joined(item)
    val text = Json.text(joined.toJson())
    val bytes = bytesOf(text)
    if (bytes > MOST_BODY_BYTES) return false
    val next = newName(before.sequence, before.version + 1)
    if (!store.write(next, text)) {
        store.erase(next)
        return false
    }
    store.erase(before.name)
    entries[at] = Entry(next, joined, bytes)
    return true
}

internal fun Engine.remove(name: String) {
    store.erase(name)
    entries.removeAll { it.name == name }
}

/** Drops the oldest attributes, then the oldest purchases, while there is too much. */
private fun Engine.evict() {
    var bytes = entries.sumOf { it.bytes }
    for (call in listOf(Item.Call.IDENTIFY, Item.Call.ATTRIBUTE)) {
        for (entry in entries.filter { it.item.call == call && it.name != inFlight }) {
            if (entries.size <= MOST_ITEMS && bytes <= MOST_BYTES) return
            lose(entry.item, "evicted")
            saveState()
            remove(entry.name)
            bytes -= entry.bytes
        }
    }
}

/** Keeps a purchase that will not be sent again where the app can see it. */
internal fun Engine.lose(item: Item, code: String) {
    debug("dropped a call for ${item.user}: $code")
    state.lose(item, code, now)
}

private fun Engine.newName(sequence: String, version: Int) =
    "q.$sequence.${padded(version.toLong(), 4)}.${environment.uuid().take(8)}"

private fun padded(number: Long, digits: Int) = number.toString().padStart(digits, '0').takeLast(digits)
