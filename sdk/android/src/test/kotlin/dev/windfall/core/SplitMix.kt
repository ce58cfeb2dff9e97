package dev.windfall.core

/** Random numbers from a seed. */
internal class SplitMix(private var state: Long) {
    fun next(): Long {
        state += -0x61c8864680b583ebL
        var mixed = state
        mixed = (mixed xor (mixed ushr 30)) * -0x40a7b892e31b1a47L
        mixed = (mixed xor (mixed ushr 27)) * -0x6b2fb644ecceee15L
        return mixed xor (mixed ushr 31)
    }

    /** From 0 to below `end`. */
    fun below(end: Int): Int = ((next() ushr 1) % end).toInt()

    fun isEven(): Boolean = below(2) == 0

    fun <T> oneOf(all: List<T>): T = all[below(all.size)]

    fun <T> oneOf(vararg all: T): T = all[below(all.size)]
}
