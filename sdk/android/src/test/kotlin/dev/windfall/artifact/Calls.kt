package dev.windfall.artifact

import org.objectweb.asm.ClassReader
import org.objectweb.asm.ClassVisitor
import org.objectweb.asm.Handle
import org.objectweb.asm.MethodVisitor
import org.objectweb.asm.Opcodes
import org.objectweb.asm.commons.ClassRemapper
import org.objectweb.asm.commons.Remapper
import org.objectweb.asm.tree.ClassNode
import java.io.File

/** The classes that the classes below [folder] name, such as `android/content/Context`. */
internal fun classesNamedIn(folder: File): Set<String> {
    val names = mutableSetOf<String>()
    val remapper = object : Remapper() {
        override fun map(internalName: String): String = internalName.also { names += it }
    }
    for (reader in readersIn(folder)) reader.accept(ClassRemapper(ClassNode(), remapper), 0)
    return names
}

/** The methods that the classes below [folder] call or refer to, such as `dev/windfall/Windfall.flush()V`. */
internal fun methodsCalledIn(folder: File): Set<String> {
    val methods = mutableSetOf<String>()
    for (reader in readersIn(folder)) reader.accept(MethodVisitors(onCall = { methods += it }), 0)
    return methods
}

/** The methods that the classes below [folder] have. */
internal fun methodsDeclaredIn(folder: File): Set<String> {
    val methods = mutableSetOf<String>()
    for (reader in readersIn(folder)) {
        reader.accept(MethodVisitors(onDeclaration = { methods += "${reader.className}.$it" }), 0)
    }
    return methods
}

private fun readersIn(folder: File): List<ClassReader> =
    folder.walk().filter { it.extension == "class" }.map { ClassReader(it.readBytes()) }.toList()

private class MethodVisitors(
    private val onDeclaration: (String) -> Unit = {},
    private val onCall: (String) -> Unit = {},
) : ClassVisitor(Opcodes.ASM9) {
    override fun visitMethod(
        access: Int,
        name: String,
        descriptor: String,
        signature: String?,
        exceptions: Array<String>?,
    ): MethodVisitor {
        onDeclaration(name + descriptor)
        return CallVisitor(onCall)
    }
}

private class CallVisitor(private val report: (String) -> Unit) : MethodVisitor(Opcodes.ASM9) {
    override fun visitMethodInsn(opcode: Int, owner: String, name: String, descriptor: String, isInterface: Boolean) =
        report("$owner.$name$descriptor")

    override fun visitInvokeDynamicInsn(name: String, descriptor: String, bootstrap: Handle, vararg arguments: Any) =
        arguments.filterIsInstance<Handle>().forEach { report("${it.owner}.${it.name}${it.desc}") }
}
