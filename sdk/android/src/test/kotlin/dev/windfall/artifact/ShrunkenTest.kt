package dev.windfall.artifact

import android.content.Context
import com.sun.net.httpserver.HttpServer
import dev.windfall.core.Json
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config
import java.io.File
import java.net.InetSocketAddress
import java.net.URLClassLoader
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.zip.ZipFile

/** The sample and the SDK still run after R8 in full mode has shrunk, renamed and optimised them. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [35], manifest = Config.NONE)
class ShrunkenTest {
    private val requests = LinkedBlockingQueue<String>()
    private val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0).apply {
        createContext("/") { exchange ->
            val body = Json.fields(exchange.requestBody.reader().readText())
            requests += exchange.requestURI.path.substringAfterLast('/') + " " + body.string("appUserId")?.take(6)
            val answer = Json.text(ACCEPTED.associateWith { body[it] }).toByteArray()
            exchange.sendResponseHeaders(200, answer.size.toLong())
            exchange.responseBody.use { it.write(answer) }
        }
        start()
    }

    @After
    fun close() = server.stop(0)

    @Test
    fun `R8 renames the classes of the SDK`() {
        val names = ZipFile(SHRUNKEN).use { zip -> zip.entries().toList().map { it.name } }
        val kept = names.filter { it.startsWith("dev/windfall/") && it.endsWith(".class") }
        assertEquals(listOf("dev/windfall/sample/Sample.class"), kept)
    }

    @Test
    fun `the calls of the shrunken sample arrive`() {
        val sample = ShrunkenLoader(javaClass.classLoader).loadClass("dev.windfall.sample.Sample")
        val url = "http://127.0.0.1:${server.address.port}"
        sample.getMethod("run", Context::class.java, String::class.java)
            .invoke(null, RuntimeEnvironment.getApplication(), url)
        // Attributes that wait for a request of the same user are sent as one.
        val missing = listOf("kotlin", "java").flatMap { listOf("identify $it", "attribute $it") }.toMutableSet()
        while (missing.isNotEmpty()) missing -= requests.poll(20, TimeUnit.SECONDS) ?: break
        assertEquals(emptySet<String>(), missing)
    }

    /** Has the SDK, the sample and Kotlin from the shrunken file only, as on a phone, and Android from [parent]. */
    private class ShrunkenLoader(parent: ClassLoader) : URLClassLoader(arrayOf(SHRUNKEN.toURI().toURL()), parent) {
        override fun loadClass(name: String, resolve: Boolean): Class<*> = synchronized(getClassLoadingLock(name)) {
            val path = "${name.replace('.', '/')}.class"
            when {
                findResource(path) != null -> findLoadedClass(name) ?: findClass(name)
                SHRUNKEN_ONLY.any { name.startsWith(it) } -> throw ClassNotFoundException(name)
                else -> super.loadClass(name, resolve)
            }
        }
    }

    private companion object {
        val SHRUNKEN = File("target/shrunken/sample.jar")
        val ACCEPTED = listOf("appUserId", "bundleId", "originalTransactionId")
        val SHRUNKEN_ONLY = listOf("dev.windfall.", "kotlin.")
    }
}
