package dev.windfall

import dev.windfall.core.Fields
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import java.util.Date
import java.util.concurrent.CopyOnWriteArrayList

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], manifest = Config.NONE)
internal class SdkTest {
    @get:Rule val server = Server()
    private val warnings = CopyOnWriteArrayList<String>()
    private val folder get() = folderOf(application)

    private fun start(url: String? = server.url) =
        Sdk(warnings::add).apply { configure(application, url, null, null, null) }

    private fun Fields.strings(vararg names: String) = names.map { string(it) }

    @Test
    fun `a call says which app and device it is from`() {
        start().identify("ann", mapOf("plan" to "pro", "seats" to 3, "none" to null), null)
        val (call, body) = server.next()
        assertEquals("identify", call)
        assertEquals(
            listOf("ann", application.packageName, "android"),
            body.strings("appUserId", "bundleId", "platform"),
        )
        assertEquals(listOf("robolectric", "en-US"), body.strings("deviceModel", "locale"))
        assertTrue(body.string("osVersion").orEmpty().isNotEmpty())
        assertEquals(mapOf("none" to null, "plan" to "pro", "seats" to 3L), body.map("attributes"))
    }

    @Test
    fun `the process dies offline, and its calls are sent after the next start`() {
        val first = start("http://127.0.0.1:1")
        first.attributePurchase("token-1", "pro", isObserved = false, null)
        first.identify("ann", null, null)
        val anonymous = first.state().anonymousId
        assertEquals(DebugState.Storage.OK, first.state().storage)
        val waiting = first.state().queue
        assertEquals(listOf(anonymous, "ann", "ann"), waiting.map { it.appUserId })
        assertEquals(listOf("token-1", null, "token-1"), waiting.map { it.purchaseToken })
        assertEquals(DebugState.Call.ATTRIBUTE, waiting.first().call)
        assertTrue(waiting.first().at <= Date())

        val second = start("http://127.0.0.1:1")
        assertEquals(waiting.map { it.at }, second.state().queue.map { it.at })
        assertEquals(listOf("ann", anonymous), second.state().run { listOf(appUserId, anonymousId) })
    }

    @Test
    fun `a purchase before the login belongs to the user after it`() {
        val sdk = start()
        sdk.attributePurchase("token-1", "pro", isObserved = true, null)
        sdk.identify("ann", null, null)
        sdk.sent()
        val anonymous = sdk.state().anonymousId
        val users = List(3) { server.next() }.map { (call, body) -> listOf(call, body.string("appUserId")) }
        assertEquals(
            listOf(listOf("attribute", anonymous), listOf("identify", "ann"), listOf("attribute", "ann")),
            users,
        )
    }

    @Test
    fun `a purchase that Play Billing lists again is sent once, and stays with its user after a logout`() {
        val sdk = start()
        sdk.identify("ann", null, null)
        repeat(3) { sdk.attributePurchase("token-1", "pro", isObserved = true, null) }
        sdk.reset(null)
        sdk.attributePurchase("token-1", "pro", isObserved = true, null)
        sdk.sent()
        assertEquals(listOf("identify", "attribute"), List(2) { server.next().first })
        assertTrue(server.isQuiet())
        sdk.attributePurchase("token-1", "pro", isObserved = false, null)
        assertEquals(sdk.state().anonymousId, server.next().second.string("appUserId"))
    }

    @Test
    fun `calls before configure are made after it`() {
        val sdk = Sdk(warnings::add)
        sdk.identify("ann", null, null)
        assertFalse(sdk.state().isConfigured)
        assertNull(sdk.state().appUserId)
        sdk.configure(application, server.url, "pk_live_1", "com.example.other", null)
        assertEquals(listOf("ann", "com.example.other"), server.next().second.strings("appUserId", "bundleId"))
    }

    @Test
    fun `a full storage keeps calls in memory and writes them later`() {
        folder.parentFile?.mkdirs()
        folder.writeText("no folder")
        val sdk = start()
        sdk.identify("ann", null, null)
        assertEquals(DebugState.Storage.FAILING, sdk.state().storage)
        assertTrue(folder.delete())
        sdk.sent()
        assertEquals("ann", server.next().second.string("appUserId"))
        assertEquals(DebugState.Storage.OK, sdk.state().storage)
    }

    @Test
    fun `a purchase that is refused for good can be seen`() {
        server.refusal = 410 to """{"code":"forgotten"}"""
        val sdk = start()
        sdk.identify("ann", null, null)
        sdk.attributePurchase("token-1", "pro", isObserved = false, null)
        sdk.sent()
        val refused = sdk.state().refused.single()
        assertEquals(
            listOf("forgotten", "ann", "token-1", "pro"),
            refused.run {
                listOf(code, appUserId, purchaseToken, productId)
            },
        )
        assertTrue(refused.at <= Date())
        assertEquals("410 forgotten", sdk.state().lastAnswer)
    }

    @Test
    fun `an address that leads nowhere is a warning`() {
        for (url in listOf(null, "", "windfall", "ftp://windfall.example.com", "http://", "https://a b")) {
            warnings.clear()
            assertFalse(start(url).state().isConfigured)
            assertEquals("$url", listOf("configure needs a url and a bundle id; nothing is sent."), warnings.toList())
        }
    }

    @Test
    fun `an address is any URL with a host`() {
        val urls =
            listOf("https://windfall.example.com/", " https://windfall.example.com ", "HTTPS://windfall.example.com")
        for (url in urls + listOf("http://my_server:8787", "https://[::1]:8787", "https://example.com/windfall")) {
            assertTrue(url, start(url).state().isConfigured)
        }
    }

    @Test
    fun `a debug function that fails changes nothing`() {
        val sdk = Sdk(warnings::add)
        sdk.configure(application, server.url, null, null) { error("the app's fault") }
        sdk.identify("ann", null, null)
        sdk.sent()
        assertEquals("200", sdk.state().lastAnswer)
        assertTrue(warnings.isNotEmpty())
    }

    @Test
    fun `an error in a debug function changes nothing`() {
        val sdk = Sdk(warnings::add)
        sdk.configure(application, server.url, null, null) { throw AssertionError("the app's fault") }
        sdk.identify("ann", null, null)
        sdk.setAttributes(mapOf("plan" to "pro"), null)
        sdk.sent()
        assertEquals(emptyList<DebugState.Waiting>(), sdk.state().queue)
    }

    @Test
    fun `a text that the app changes after the call is sent as it was`() {
        val sdk = Sdk(warnings::add)
        val text = StringBuilder("before")
        sdk.setAttributes(mapOf("text" to text), null)
        text.append(" and after")
        sdk.configure(application, server.url, null, null, null)
        assertEquals(mapOf("text" to "before"), server.next().second.map("attributes"))
    }

    @Test
    fun `a key from a file with a line break is a key`() {
        val sdk = Sdk(warnings::add)
        sdk.configure(application, server.url, "pk_live_1\n", null, null)
        sdk.identify("ann", null, null)
        sdk.sent()
        assertEquals("200", sdk.state().lastAnswer)
    }

    @Test
    fun `a second process has a queue of its own`() {
        val main = folderOf(application, application.packageName)
        assertEquals(main, folderOf(application, null))
        val other = folderOf(application, "${application.packageName}:push/1")
        assertEquals("queue-${application.packageName}_push_1", other.name)
        assertNotEquals(main, other)
    }

    @Test
    fun `nothing that Java can pass throws`() {
        FromJava.nulls()
        FromJava.configureWithNulls(application)
        FromJava.otherTypes()
    }
}
