package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import java.io.File
import java.io.IOException
import java.nio.file.Files
import java.util.concurrent.FutureTask
import kotlin.concurrent.thread

/** The storage in files. */
internal class FileStorageTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val folder by lazy { File(temporary.root, "a/queue") }

    private fun open(folder: File = this.folder) = FileStorage { folder }

    private fun <T> assertFails(work: () -> T) = assertThrows(IOException::class.java) { work() }

    @Test
    fun `what was written is there for the next process`() {
        val storage = open()
        val long = "zwölf \uD83D\uDE00\n".repeat(20_000)
        assertNull(storage.read("a"))
        storage.write("a", "one")
        storage.write("a", long)
        storage.write("q.1", "")
        val next = open()
        assertEquals(long, next.read("a"))
        assertEquals("", next.read("q.1"))
        assertEquals(listOf("a", "q.1"), next.names().sorted())
        next.remove("a")
        next.remove("a")
        assertNull(storage.read("a"))
        assertEquals(listOf("q.1"), storage.names())
    }

    @Test
    fun `a write that a kill cut is no text, and the next process removes it`() {
        open().write("a", "one")
        File(folder, "a.next").writeText("tw")
        File(folder, "b.next").writeText("")
        val next = open()
        assertEquals(listOf("a"), next.names())
        assertEquals("one", next.read("a"))
        assertNull(next.read("b"))
        assertEquals(listOf("a.json"), folder.list()?.toList())
    }

    @Test
    fun `a reader sees the old text or the new one, and nothing between`() {
        val storage = open()
        val texts = listOf("a".repeat(100_000), "b".repeat(70_000))
        storage.write("s", texts[0])
        val reader = open()
        // The first use of a folder removes what is half written.
        reader.names()
        val writer = FutureTask { for (number in 1..200) storage.write("s", texts[number % 2]) }
        thread { writer.run() }
        var reads = 0
        while (!writer.isDone) {
            if (reader.read("s") !in texts) throw AssertionError("a read found something else")
            reads += 1
        }
        writer.get()
        assertTrue("$reads reads", reads > 1)
    }

    @Test
    fun `what else lies in the folder is not a name`() {
        open().write("a", "one")
        for (name in listOf(".nomedia", "notes.txt", "a.json.bak", "json")) File(folder, name).writeText("x")
        File(folder, "deeper").mkdir()
        assertEquals(listOf("a"), open().names())
        assertEquals(5, folder.list { _, name -> name != "a.json" }?.size)
    }

    @Test
    fun `a folder that cannot be made or read fails each operation`() {
        val file = temporary.newFile("taken")
        for (path in listOf(file, File(file, "below"), File("/proc/none/queue"))) {
            val storage = open(path)
            assertFails { storage.names() }
            assertFails { storage.read("a") }
            assertFails { storage.write("a", "one") }
            assertFails { storage.remove("a") }
        }
    }

    @Test
    fun `a folder that is there later is used then`() {
        val file = temporary.newFile("taken")
        val storage = open(file)
        assertFails { storage.write("a", "one") }
        file.delete()
        storage.write("a", "one")
        assertEquals("one", storage.read("a"))
    }

    @Test
    fun `a path that is known later is asked for again`() {
        var path: File? = null
        val storage = FileStorage { path ?: throw IOException("the device is locked") }
        assertFails { storage.names() }
        path = folder
        assertEquals(emptyList<String>(), storage.names())
    }

    @Test
    fun `a folder that was removed is made again`() {
        val storage = open()
        storage.write("a", "one")
        folder.deleteRecursively()
        assertEquals(emptyList<String>(), storage.names())
        assertNull(storage.read("a"))
        folder.deleteRecursively()
        storage.remove("a")
        folder.deleteRecursively()
        storage.write("a", "two")
        assertEquals("two", open().read("a"))
    }

    @Test
    fun `a full disk leaves the old text, and no remains`() {
        val full = File("/dev/full")
        assumeTrue(full.exists())
        val storage = open()
        storage.write("a", "one")
        // A write to this file fails because there is no space.
        Files.createSymbolicLink(File(folder, "a.next").toPath(), full.toPath())
        assertFails { storage.write("a", "two") }
        assertEquals("one", storage.read("a"))
        assertEquals(listOf("a.json"), folder.list()?.toList())
        storage.write("a", "two")
        assertEquals("two", storage.read("a"))
    }

    @Test
    fun `a file that cannot be replaced, read or removed fails`() {
        val storage = open()
        storage.write("b", "one")
        File(folder, "a.json/deeper").mkdirs()
        assertFails { storage.write("a", "one") }
        assertFails { storage.read("a") }
        assertFails { storage.remove("a") }
        assertFails { storage.write("long".repeat(100), "one") }
        assertEquals(setOf("a.json", "b.json"), folder.list()?.toSet())
    }

    @Test
    fun `a folder without permission fails`() {
        val storage = open()
        storage.write("a", "one")
        folder.setWritable(false)
        // Root may write everywhere.
        assumeTrue(File(folder, "test").runCatching { createNewFile() }.isFailure)
        assertFails { storage.write("a", "two") }
        assertFails { storage.remove("a") }
        folder.setReadable(false)
        assertFails { storage.names() }
        folder.setReadable(true)
        folder.setWritable(true)
        assertEquals("one", storage.read("a"))
    }

    @Test
    fun `texts that are no items are removed, and a state of another version is read`() {
        val world = World()
        world.stored["q.000000000007.0000.abcdef12"] = "{\"call\":\"ident"
        world.stored["s"] = "{\"anonymousId\":\"\$anon_1\",\"user\":\"ann\",\"known\":7,\"later\":true}"
        world.boot()
        world.process.run { it.configure(Options("https://a.example.com", null, "b", Device(), null)) }
        val state = world.process.run { it.snapshot() }
        assertEquals("ann", state?.appUserId)
        assertEquals("\$anon_1", state?.anonymousId)
        assertEquals(setOf("s"), world.stored.keys)
    }
}
