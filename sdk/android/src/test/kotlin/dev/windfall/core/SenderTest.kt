package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** Requests whose answers are late. */
internal class SenderTest {
    private val world = World()
    private val bodies = ArrayList<Fields>()
    private val server = ModelServer()
    private var debug = {}

    init {
        server.mode = ModelServer.Mode.ANSWER_LATE
        world.answer = { request ->
            bodies += Json.fields(request.body)
            server.answer(request)
        }
        run { it.configure(Options("https://a.example.com", null, "b", Device()) { debug() }) }
    }

    private fun <T> run(work: (Engine) -> T): T = world.process.run(work) ?: throw Failure("the process is dead")

    private fun set(name: String, value: Int) = run { it.setAttributes(mapOf(name to value)) {} }

    private val sent get() = bodies.map { Json.text(it["attributes"]) }

    @Test
    fun `what is being sent does not change, and one request is in flight`() {
        set("a", 1)
        set("b", 2)
        set("c", 3)
        run { it.wake() }
        assertEquals(listOf("{\"a\":1}"), sent)
        world.process.release()
        assertEquals(listOf("{\"a\":1}", "{\"b\":2,\"c\":3}"), sent)
        world.process.release()
        assertEquals(0, run { it.snapshot() }.queue.size)
    }

    @Test
    fun `what is being sent is not dropped`() {
        set("a", 1)
        for (number in 1..1001) run { it.attributePurchase(Sale.of("$number", null), false) {} }
        assertEquals(1000, run { it.snapshot() }.queue.size)
        assertTrue(run { it.snapshot() }.queue.first().call == Item.Call.IDENTIFY)
        server.mode = ModelServer.Mode.OPEN
        world.process.release()
        assertEquals(0, run { it.snapshot() }.queue.size)
        assertEquals((3..1001).map { "$it" }, bodies.drop(1).map { it.string("originalTransactionId") })
        assertEquals(listOf("1", "2"), run { it.snapshot() }.refused.map { it.item.purchase?.id })
    }

    @Test
    fun `an answer that comes too late counts nothing`() {
        set("a", 1)
        world.advance(ANSWER_MS)
        assertEquals("no connection", run { it.snapshot() }.lastAnswer)
        world.process.release()
        assertEquals("no connection", run { it.snapshot() }.lastAnswer)
        server.mode = ModelServer.Mode.OPEN
        world.advance(2000)
        assertEquals(listOf("{\"a\":1}", "{\"a\":1}"), sent)
        assertEquals(0, run { it.snapshot() }.queue.size)
    }

    @Test
    fun `an error in the middle of an answer does not end the sending`() {
        set("a", 1)
        debug = { throw OutOfMemoryError() }
        assertThrows(OutOfMemoryError::class.java) { world.process.release() }
        debug = {}
        server.mode = ModelServer.Mode.OPEN
        run { it.wake() }
        assertEquals(0, run { it.snapshot() }.queue.size)
    }

    @Test
    fun `flush ends when the answer comes, and no earlier`() {
        set("a", 1)
        var isDone = false
        run { it.flush { isDone = true } }
        assertEquals(false, isDone)
        world.process.release()
        assertEquals(true, isDone)
    }
}
