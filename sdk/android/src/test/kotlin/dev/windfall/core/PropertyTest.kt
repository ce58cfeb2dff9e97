package dev.windfall.core

import org.junit.Assert.assertThrows
import org.junit.Assert.fail
import org.junit.Test

/**
 * The SDK against a model: random calls, kills between any two operations, a storage and a network that fail. No call is lost,
 * none applies to the wrong user, none takes effect twice, and the order of each user's calls is kept.
 *
 * `WINDFALL_LONG=1` runs 20,000 sequences. `WINDFALL_SEED` is the seed of the first.
 */
internal class PropertyTest {
    @Test
    fun `calls survive kills, storage, network and clock, and land once, in order, with their user`() {
        val count = if (System.getenv("WINDFALL_LONG") == "1") 20_000 else 500
        val first = System.getenv("WINDFALL_SEED")?.toLong() ?: 20_261_121
        println("$count sequences from seed $first")
        for (seed in first..<first + count) {
            val commands = randomCommands(seed)
            val failure = failureOf(commands) ?: continue
            val (shortest, text) = shrunk(commands, failure)
            fail("WINDFALL_SEED=$seed: $text\n${shortest.joinToString("\n")}")
        }
    }

    private fun failureOf(commands: List<Command>): Throwable? = try {
        val run = Run()
        for (one in commands) run.execute(one)
        run.finish()
        null
    } catch (failure: Exception) {
        failure
    }

    /** Leaves out commands while what is left fails. */
    private tailrec fun shrunk(commands: List<Command>, failure: Throwable): Pair<List<Command>, Throwable> {
        for (at in commands.indices) {
            val fewer = commands.filterIndexed { index, _ -> index != at }
            val next = failureOf(fewer) ?: continue
            return shrunk(fewer, next)
        }
        return Pair(commands, failure)
    }

    @Test
    fun `the model notices a call that is lost, and one that lands with the wrong user`() {
        val run = Run()
        run.execute(Command.Call(ModelCall.Identify("ann", 1)))
        run.execute(Command.Call(ModelCall.AttributePurchase("1", isObserved = false)))
        run.server.links["1"] = listOf("ann", "bob")
        assertThrows(Failure::class.java) { run.finish() }
        run.server.links.remove("1")
        assertThrows(Failure::class.java) { run.finish() }
        run.server.links["1"] = listOf("ann")
        run.finish()
    }
}
