package dev.windfall.artifact

import dev.windfall.Windfall
import org.junit.Assert.assertEquals
import org.junit.Test
import org.objectweb.asm.ClassReader
import org.objectweb.asm.tree.ClassNode
import java.io.File
import java.util.zip.ZipFile

/** The public API is what its dump says. */
class ApiTest {
    /** A change of the API is seen in review: `npm run test:android -- --write-api` writes the dump. */
    @Test
    fun `the public API is as in the dump`() {
        val kept = File("api/windfall-android.api")
        if (System.getenv("WINDFALL_WRITE_API") != null) kept.writeText(dumpOfApi())
        assertEquals(kept.readText(), dumpOfApi())
    }

    @Test
    fun `compilers of Kotlin 2 read the library`() {
        val metadata = Windfall::class.java.getAnnotation(Metadata::class.java)
        assertEquals(listOf(2, 0), metadata.metadataVersion.take(2))
    }

    @Test
    fun `the AAR tells Java what may be null`() {
        val bytes = ZipFile("target/aar/classes.jar").use { jar ->
            jar.getInputStream(jar.getEntry("dev/windfall/Windfall.class")).readBytes()
        }
        val methods = ClassNode().also { ClassReader(bytes).accept(it, 0) }.methods
        val (context, url) = methods.first { it.name == "configure" }.invisibleParameterAnnotations.orEmpty()
        assertEquals("Lorg/jetbrains/annotations/NotNull;", context.single().desc)
        assertEquals("Lorg/jetbrains/annotations/Nullable;", url.single().desc)
    }
}
