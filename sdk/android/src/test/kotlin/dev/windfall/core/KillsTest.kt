package dev.windfall.core

import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.junit.runners.Parameterized
import org.junit.runners.Parameterized.Parameters

/**
 * Kills in every gap between two operations: each scenario runs once for each operation of the storage and the network, is
 * killed before or after it, and goes on.
 */
@RunWith(Parameterized::class)
internal class KillsTest(private val name: String, private val scenario: Scenario) {
    /** What comes before the kill, what is killed, and what comes after it. */
    internal class Scenario(val before: List<Command>, val killed: List<Command>, val after: List<Command>)

    @Test
    fun `a kill at each step loses nothing`() {
        var steps = 0
        while (isKilled(steps)) steps += 1
        assertTrue("$steps half operations", steps > 1)
    }

    /** Whether there were so many half operations. */
    private fun isKilled(steps: Int): Boolean {
        val run = Run()
        for (one in scenario.before) run.execute(one)
        run.execute(Command.Doom(steps))
        for (one in scenario.killed) run.execute(one)
        val isKilled = run.kills > 0
        try {
            for (one in scenario.after) run.execute(one)
            run.finish()
        } catch (failure: Failure) {
            throw AssertionError("$name: killed after $steps half operations: ${failure.message}", failure)
        }
        return isKilled
    }

    internal companion object {
        /** Not the attribute of `identify`, which would hide that this one is missing. */
        private val attributes = Command.Call(ModelCall.SetAttributes("b", 0))
        private val reset = Command.Call(ModelCall.Reset)
        private val offline = Command.Network(ModelServer.Mode.OFFLINE)
        private val open = Command.Network(ModelServer.Mode.OPEN)
        private val flush = Command.Flush

        private fun identify(user: String) = Command.Call(ModelCall.Identify(user, 0))

        private fun buy(id: String) = Command.Call(ModelCall.AttributePurchase(id, isObserved = false))

        private fun observe(id: String) = Command.Call(ModelCall.AttributePurchase(id, isObserved = true))

        private fun storage(mode: StorageMode) = Command.Storage(mode)

        private fun scenario(name: String, before: List<Command>, killed: List<Command>, after: List<Command>) =
            arrayOf<Any>(name, Scenario(before, killed, after))

        @JvmStatic
        @Parameters(name = "{0}")
        fun scenarios(): List<Array<Any>> = logins() + logouts() + sending()

        private fun logins() = listOf(
            scenario("attributes of the anonymous id", listOf(), listOf(attributes), listOf(identify("ann"))),
            scenario(
                "attributes that join",
                listOf(offline, attributes),
                listOf(attributes),
                listOf(open, flush, identify("ann")),
            ),
            scenario("a purchase of the anonymous id", listOf(), listOf(buy("1")), listOf(identify("ann"))),
            scenario("a login", listOf(attributes, buy("1"), buy("2")), listOf(identify("ann")), listOf(flush)),
            scenario(
                "a login offline",
                listOf(offline, attributes, buy("1"), buy("2")),
                listOf(identify("ann")),
                listOf(open, flush),
            ),
            scenario(
                "a login with a full storage",
                listOf(attributes, buy("1"), storage(StorageMode.FULL)),
                listOf(identify("ann")),
                listOf(storage(StorageMode.GOOD), buy("2")),
            ),
            scenario(
                "a login, then a purchase that nobody asked for",
                listOf(buy("1")),
                listOf(identify("ann")),
                listOf(observe("1"), reset, observe("1")),
            ),
            scenario(
                "another user",
                listOf(identify("ann"), buy("1")),
                listOf(identify("bob")),
                listOf(buy("1"), attributes),
            ),
        )

        private fun logouts() = listOf(
            scenario(
                "a logout",
                listOf(identify("ann"), buy("1")),
                listOf(reset),
                listOf(observe("1"), attributes),
            ),
            scenario(
                "a logout with a full storage",
                listOf(identify("ann"), storage(StorageMode.FULL)),
                listOf(reset),
                listOf(buy("1")),
            ),
            scenario(
                "sending before a logout",
                listOf(offline, identify("ann"), buy("1")),
                listOf(open, flush),
                listOf(flush, reset, observe("1")),
            ),
        )

        private fun sending() = listOf(
            scenario(
                "sending",
                listOf(offline, identify("ann"), buy("1"), attributes, reset, buy("1")),
                listOf(open, flush),
                listOf(flush),
            ),
            scenario(
                "sending with removals that fail",
                listOf(offline, identify("ann"), buy("1"), reset, buy("1"), storage(StorageMode.REMOVES_FAIL)),
                listOf(open, flush),
                listOf(storage(StorageMode.GOOD), flush),
            ),
            scenario(
                "answers that are lost",
                listOf(offline, attributes, buy("1"), identify("ann")),
                listOf(Command.Network(ModelServer.Mode.ANSWER_LOST), flush, flush),
                listOf(open, flush),
            ),
            scenario(
                "an answer that is late",
                listOf(Command.Network(ModelServer.Mode.ANSWER_LATE), buy("1")),
                listOf(identify("ann"), open),
                listOf(flush),
            ),
            scenario(
                "a refusal for now",
                listOf(Command.Network(ModelServer.Mode.FORBIDDEN)),
                listOf(buy("1"), attributes),
                listOf(open, identify("ann"), Command.Pass(26 * HOUR)),
            ),
            scenario(
                "a storage that is healed",
                listOf(storage(StorageMode.FULL), identify("ann"), buy("1"), offline, reset, buy("1")),
                listOf(storage(StorageMode.GOOD), flush, open, flush),
                listOf(flush),
            ),
        )
    }
}
