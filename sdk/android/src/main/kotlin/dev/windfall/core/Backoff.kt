package dev.windfall.core

import kotlin.math.max
import kotlin.math.min

/** Waits between tries, in milliseconds. */
internal const val DAY_MS = 86_400_000L

/** The longest wait after a lost connection. */
internal const val SOFT_MS = 15 * 60_000L

/** How long a request may take. */
internal const val ANSWER_MS = 9_000L

/** A wait that ends at `until`. `length` is its whole length. */
internal class Wait private constructor(private val until: Long, private val length: Long) {
    /** What is left. A clock that was turned back ends the wait, so that it cannot last longer than it was meant to. */
    fun left(now: Long): Long = (until - now).let { if (it <= length) max(0, it) else 0 }

    fun toJson(): Map<String, Any?> = mapOf("until" to until, "length" to length)

    companion object {
        fun from(now: Long, length: Long): Wait = Wait(now + length, length)

        fun of(fields: Fields): Wait = Wait(fields.long("until") ?: 0, fields.long("length") ?: 0)
    }
}

/** Full jitter: a part of 1 s, 2 s, 4 s … up to `most`. `random` is from 0 to 1. */
internal fun jitter(random: Double, tries: Int, most: Long): Long =
    (random * min(most, 1000L shl min(tries, 30))).toLong()

/** Milliseconds of a `retry-after` header, one second to a day. Null without whole seconds. */
internal fun retryAfterMs(header: String?): Long? {
    if (header.isNullOrEmpty() || !header.all { it in '0'..'9' }) return null
    return min(DAY_MS, max(1000, (header.toLongOrNull() ?: DAY_MS).coerceAtMost(DAY_MS) * 1000))
}
