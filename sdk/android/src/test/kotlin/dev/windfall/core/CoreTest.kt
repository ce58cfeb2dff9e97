package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import java.io.File
import java.io.IOException
import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.concurrent.thread

/** The core with its real thread, timers and files, and many threads that call it. */
internal class CoreTest {
    /** A network that accepts every call and keeps their bodies. */
    private class Acceptance(private val thread: CoreThread) : Network {
        val bodies = CopyOnWriteArrayList<Fields>()

        /** The first call. */
        val accepted = CountDownLatch(1)

        override fun post(request: Request, done: (Answer?) -> Unit) {
            val body = Json.fields(request.body)
            bodies += body
            accepted.countDown()
            val names = listOf("appUserId", "bundleId", "originalTransactionId")
            val answer = Answer(200, Json.text(names.associateWith { body[it] }))
            thread.run { done(answer) }
        }

        val ids get() = bodies.map { it.string("originalTransactionId") }
    }

    @get:Rule
    val temporary = TemporaryFolder()

    private val warnings = ArrayList<String>()
    private val thread = CoreThread { warnings += "a call failed: $it" }
    private val network = Acceptance(thread)
    private val options = Options("https://a.example.com", null, "b", Device(), null)

    private fun coreIn(find: () -> File = { temporary.root }) = Core(thread) {
        Environment(
            now = System::currentTimeMillis,
            // Short waits.
            random = { 0.01 },
            uuid = { UUID.randomUUID().toString() },
            storage = FileStorage(find),
            network = network,
            timers = thread,
            warn = { warnings += it },
        )
    }

    /** Waits for `done` of a call. */
    private fun await(call: (done: () -> Unit) -> Unit) {
        val end = CountDownLatch(1)
        call { end.countDown() }
        assertTrue("nobody called back", end.await(20, SECONDS))
    }

    private fun stateOf(core: Core): Snapshot {
        var state: Snapshot? = null
        await { done ->
            core.snapshot {
                state = it
                done()
            }
        }
        return state!!
    }

    private fun Core.buy(number: Int, done: () -> Unit = {}) = attributePurchase(Sale.of("$number", "pro"), false, done)

    @Test
    fun `calls take effect in their order, also those before configure`() {
        val core = coreIn()
        core.buy(1)
        core.configure(options)
        for (number in 2..60) core.buy(number)
        await(core::flush)
        assertEquals((1..60).map { "$it" }, network.ids)
        assertTrue(stateOf(core).isStored)
    }

    @Test
    fun `calls from many threads all arrive`() {
        val core = coreIn()
        core.configure(options)
        val callers = List(8) { caller ->
            thread {
                for (number in 1..10) {
                    await { core.buy(caller * 100 + number, it) }
                    core.wake()
                    stateOf(core)
                    await(core::flush)
                }
            }
        }
        for (caller in callers) caller.join()
        await(core::flush)
        val state = stateOf(core)
        assertEquals(0, state.queue.size)
        assertTrue(state.isStored)
        assertEquals(80, network.ids.toSet().size)
        for (caller in 0..7) {
            val own = network.ids.filterNotNull().map { it.toInt() }.filter { it / 100 == caller }
            assertEquals((1..10).map { caller * 100 + it }, own)
        }
        assertEquals(emptyList<String>(), warnings)
    }

    @Test
    fun `nobody waits for a configure that does not come, or that leads nowhere`() {
        val core = coreIn()
        await { core.buy(1, it) }
        await { core.identify("ann", emptyMap(), it) }
        await(core::flush)
        assertFalse(stateOf(core).isConfigured)
        for (url in listOf("", "no address", "ftp://a.example.com", "https://", "a.example.com")) {
            core.configure(Options(url, null, "b", Device(), null))
        }
        core.configure(Options("https://a.example.com", null, null, Device(), null))
        await { core.setAttributes(mapOf("a" to 1), it) }
        await(core::reset)
        val state = stateOf(core)
        assertFalse(state.isConfigured)
        assertFalse(state.isStored)
        assertNull(state.appUserId)
        assertEquals(6, warnings.size)
        core.configure(options)
        await(core::flush)
        val users = network.bodies.map { it.string("appUserId").orEmpty() }.distinct()
        assertEquals(listOf(true, false), users.map { isAnonymous(it) })
        assertEquals("ann", users[1])
        // The reset made another one.
        assertFalse(users[0] == stateOf(core).anonymousId)
    }

    @Test
    fun `a call that is done is in the storage`() {
        val core = coreIn()
        core.configure(options)
        var stored: String? = null
        await { done ->
            core.identify("ann", mapOf("plan" to "pro")) {
                stored = FileStorage { temporary.root }.read("s")
                done()
            }
        }
        assertEquals("ann", Json.fields(stored).string("user"))
    }

    @Test
    fun `calls wait in memory while the storage cannot be read, and arrive when it can`() {
        var isLocked = true
        val core = coreIn { if (isLocked) throw IOException("the device is locked") else temporary.root }
        core.configure(options)
        await { core.buy(1, it) }
        await { core.identify("ann", emptyMap(), it) }
        await(core::flush)
        val locked = stateOf(core)
        assertTrue(locked.isConfigured)
        assertFalse(locked.isStored)
        assertNull(locked.anonymousId)
        assertEquals(0, network.bodies.size)
        thread.run { isLocked = false }
        core.wake()
        await(core::flush)
        val state = stateOf(core)
        assertTrue(state.isStored)
        assertNotNull(state.anonymousId)
        assertEquals("ann", state.appUserId)
        assertEquals(listOf("1", null, "1"), network.ids)
    }

    @Test
    fun `a storage that stays unreadable is tried again by itself`() {
        var tries = 0
        val core = coreIn { if (++tries <= 2) throw IOException("the device is locked") else temporary.root }
        core.configure(options)
        await { core.buy(1, it) }
        // No call follows.
        assertTrue(network.accepted.await(20, SECONDS))
        assertEquals(listOf("1"), network.ids)
        assertEquals(3, tries)
    }

    @Test
    fun `a folder that cannot be made leaves the calls in memory`() {
        val core = coreIn { File("/proc/none") }
        core.configure(options)
        await { core.identify("ann", emptyMap(), it) }
        await(core::flush)
        assertFalse(stateOf(core).isStored)
        assertEquals(emptyList<String>(), warnings)
    }

    @Test
    fun `what the app passes and no server takes is left out, and done is called`() {
        val core = coreIn()
        core.configure(options)
        val ids = listOf("", " ann", "ann\n", "guest", "NULL", "0", "\$anon_1", "a".repeat(257), "a\u0000", "\uD83D")
        for (id in ids) await { core.identify(id, emptyMap(), it) }
        for (token in listOf("", "a\u0000", "\uDE00", "a".repeat(2049))) {
            await { core.attributePurchase(Sale.of(token, null), true, it) }
        }
        val odd = mapOf("" to 1, "a\u0000" to 1, "b" to listOf(1), "c" to Double.NaN, "d" to "\uD83D", "e" to this)
        await { core.setAttributes(odd, it) }
        await(core::flush)
        assertEquals(0, network.bodies.size)
        val numbers = mapOf("a" to 1.toByte(), "b" to 2.5f, "c" to 3.0, "e" to 1e300)
        val values = numbers + mapOf("d" to StringBuilder("x"), "f" to null)
        await { core.identify("a".repeat(256), values, it) }
        await(core::flush)
        val sent = Json.text(network.bodies.single()["attributes"])
        assertEquals("{\"a\":1,\"b\":2.5,\"c\":3,\"d\":\"x\",\"e\":1.0E300,\"f\":null}", sent)
    }
}
