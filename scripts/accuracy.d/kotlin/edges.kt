// Compiler plugin that writes the definitions and calls of a Kotlin module, from the typed tree before it is lowered: inline
// functions, defaults and calls without a token are all still there. make_truth.py builds it and reads what it writes.
@file:OptIn(org.jetbrains.kotlin.compiler.plugin.ExperimentalCompilerApi::class, org.jetbrains.kotlin.ir.symbols.UnsafeDuringIrConstructionAPI::class)
import org.jetbrains.kotlin.backend.common.extensions.IrGenerationExtension
import org.jetbrains.kotlin.backend.common.extensions.IrPluginContext
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.descriptors.Modality
import org.jetbrains.kotlin.ir.IrElement
import org.jetbrains.kotlin.ir.declarations.*
import org.jetbrains.kotlin.ir.expressions.*
import org.jetbrains.kotlin.ir.util.*
import org.jetbrains.kotlin.ir.visitors.*
import java.io.File

class Registrar : CompilerPluginRegistrar() {
    override val pluginId = "edges"
    override val supportsK2 = true
    override fun ExtensionStorage.registerExtensions(configuration: CompilerConfiguration) {
        IrGenerationExtension.registerExtension(Edges())
    }
}

class Edges : IrGenerationExtension {
    override fun generate(moduleFragment: IrModuleFragment, pluginContext: IrPluginContext) {
        File(System.getenv("EDGES_OUT")).printWriter().use { out ->
            for (file in moduleFragment.files) file.accept(Walk(file, out), null)
        }
    }
}

/** One field of a line. */
fun field(text: String) = text.replace('\t', ' ').replace('\n', ' ')

/**
 * Lines of tab-separated fields: D a definition, O an override and what it overrides, E a call with caller and callee.
 * A place is file, offset, name, kind and owner.
 */
class Walk(val file: IrFile, val out: java.io.PrintWriter) : IrVisitorVoid() {
    val stack = ArrayList<IrDeclaration>()
    val path = file.fileEntry.name

    fun place(d: IrDeclaration): String {
        val f = d.fileOrNull?.fileEntry?.name
        val owner = (d.parent as? IrClass)?.let { it.fqNameWhenAvailable?.asString() } ?: "-"
        return listOf(f ?: "-", d.startOffset.toString(), (d as? IrDeclarationWithName)?.name?.asString() ?: "-", kind(d), owner).joinToString("\t") { field(it) }
    }

    fun kind(d: IrDeclaration): String = when (d) {
        is IrConstructor -> if (d.isPrimary) "primary" else "secondary"
        is IrSimpleFunction -> when {
            d.correspondingPropertySymbol != null -> "accessor"
            d.origin == IrDeclarationOrigin.LOCAL_FUNCTION_FOR_LAMBDA -> "lambda"
            d.name.isSpecial -> "lambda"
            d.origin == IrDeclarationOrigin.DEFINED || d.origin == IrDeclarationOrigin.LOCAL_FUNCTION || d.origin.toString().contains("IR_EXTERNAL") -> "fun"
            else -> "gen:" + d.origin.toString()
        }
        is IrClass -> "class"
        else -> "other"
    }

    override fun visitElement(element: IrElement) { element.acceptChildrenVoid(this) }

    override fun visitClass(declaration: IrClass) {
        out.println("D\t" + place(declaration) + "\t" + declaration.endOffset + "\t" + declaration.kind + "\t" + declaration.origin)
        stack.add(declaration); super.visitClass(declaration); stack.removeAt(stack.size - 1)
    }

    override fun visitFunction(declaration: IrFunction) {
        val abstract = (declaration as? IrSimpleFunction)?.modality == Modality.ABSTRACT || declaration.body == null
        if (!(declaration is IrSimpleFunction && declaration.isFakeOverride)) {
            out.println("D\t" + place(declaration) + "\t" + declaration.endOffset + "\t" + (if (abstract) "abstract" else "body") + "\t" + declaration.origin)
            if (declaration is IrSimpleFunction) for (o in declaration.overriddenSymbols) for (real in reals(o.owner))
                out.println("O\t" + place(declaration) + "\t" + place(real))
        }
        stack.add(declaration); super.visitFunction(declaration); stack.removeAt(stack.size - 1)
    }

    fun reals(f: IrSimpleFunction): List<IrSimpleFunction> =
        if (!f.isFakeOverride) listOf(f) else f.resolveFakeOverride()?.let { listOf(it) } ?: f.overriddenSymbols.flatMap { reals(it.owner) }.distinct()

    fun caller(): String {
        for (d in stack.asReversed()) {
            if (d is IrSimpleFunction) { val k = kind(d); if (k == "lambda") continue; return place(d) }
            if (d is IrConstructor) return place(d)
            if (d is IrClass) return place(d)
        }
        return "$path\t0\t-\tmodule\t-"
    }

    fun edge(e: IrElement, f: IrFunction, how: String, origin: String) {
        val targets = if (f is IrSimpleFunction) reals(f) else listOf(f)
        for (t in targets) {
            val abstract = (t as? IrSimpleFunction)?.modality == Modality.ABSTRACT
            out.println("E\t" + caller() + "\t" + place(t) + "\t" + e.startOffset + "\t" + e.endOffset + "\t" + how + "\t" + origin + "\t" + (if (abstract) "abstract" else "body") + "\t" + targets.size + "\t" + path)
        }
    }

    override fun visitFunctionAccess(expression: IrFunctionAccessExpression) {
        edge(expression, expression.symbol.owner, expression.javaClass.simpleName, expression.origin?.toString() ?: "-")
        super.visitFunctionAccess(expression)
    }
    override fun visitFunctionReference(expression: IrFunctionReference) {
        edge(expression, expression.symbol.owner, "ref", "-")
        super.visitFunctionReference(expression)
    }
    override fun visitRichFunctionReference(expression: IrRichFunctionReference) {
        expression.reflectionTargetSymbol?.owner?.let { edge(expression, it, "ref", "-") }
        super.visitRichFunctionReference(expression)
    }
}
