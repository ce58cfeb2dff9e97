package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Test

/** An app that changes the address of its server while calls wait for the old one. */
internal class DestinationTest {
    private val world = World()
    private val server = ModelServer()
    private val requests = ArrayList<String>()

    init {
        world.answer = { request ->
            requests += request.url.removePrefix("https://") + " " + Json.fields(request.body).string("appUserId")
            if ("wrong" in request.url) Outcome.Now(null) else server.answer(request)
        }
        configure("https://wrong.example.com")
        run { it.identify("ann", emptyMap()) {} }
        observe()
        configure("https://right.example.com")
        requests.clear()
    }

    private fun run(work: (Engine) -> Unit): Unit = world.process.run(work) ?: throw Failure("the process is dead")

    private fun configure(url: String) = run { it.configure(Options(url, null, "b", Device(), null)) }

    private fun observe() = run { it.attributePurchase(Sale.of("1", null), true) {} }

    private val arrived get() = requests.filter { "right" in it }

    @Test
    fun `a purchase that waits for an address that leads nowhere is reported to the next one`() {
        observe()
        observe()
        assertEquals(listOf("right.example.com/api/sdk/v1/attribute ann"), arrived)
    }

    @Test
    fun `a purchase that waits for a known user is not reported for an anonymous id, whatever its address`() {
        run { it.reset {} }
        observe()
        assertEquals(emptyList<String>(), arrived)
    }
}
