// Compiler plugin that writes what every name of a Kotlin module refers to, from the tree of its front end: kotlin.py builds it and reads
// what it writes. Lines of tab-separated fields: kind, name, file, offset, and of the target file, offset and name, `-` where it is not of
// the module, `local` where it is a parameter, a local variable or a type parameter.
@file:OptIn(org.jetbrains.kotlin.compiler.plugin.ExperimentalCompilerApi::class, org.jetbrains.kotlin.fir.symbols.SymbolInternals::class)
import org.jetbrains.kotlin.KtFakeSourceElementKind
import org.jetbrains.kotlin.KtRealSourceElementKind
import org.jetbrains.kotlin.KtSourceElement
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.diagnostics.DiagnosticReporter
import org.jetbrains.kotlin.fir.FirElement
import org.jetbrains.kotlin.fir.FirSession
import org.jetbrains.kotlin.fir.analysis.checkers.MppCheckerKind
import org.jetbrains.kotlin.fir.analysis.checkers.context.CheckerContext
import org.jetbrains.kotlin.fir.analysis.checkers.declaration.DeclarationCheckers
import org.jetbrains.kotlin.fir.analysis.checkers.declaration.FirFileChecker
import org.jetbrains.kotlin.fir.analysis.extensions.FirAdditionalCheckersExtension
import org.jetbrains.kotlin.fir.declarations.*
import org.jetbrains.kotlin.fir.delegatedWrapperData
import org.jetbrains.kotlin.fir.expressions.*
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrar
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrarAdapter
import org.jetbrains.kotlin.fir.references.FirResolvedNamedReference
import org.jetbrains.kotlin.fir.resolve.providers.firProvider
import org.jetbrains.kotlin.fir.resolve.providers.symbolProvider
import org.jetbrains.kotlin.fir.symbols.FirBasedSymbol
import org.jetbrains.kotlin.fir.symbols.impl.*
import org.jetbrains.kotlin.fir.types.*
import org.jetbrains.kotlin.fir.unwrapFakeOverrides
import org.jetbrains.kotlin.fir.visitors.FirVisitorVoid
import org.jetbrains.kotlin.name.ClassId
import java.io.File

class Registrar : CompilerPluginRegistrar() {
    override val pluginId = "occurrences"
    override val supportsK2 = true
    override fun ExtensionStorage.registerExtensions(configuration: CompilerConfiguration) {
        FirExtensionRegistrarAdapter.registerExtension(object : FirExtensionRegistrar() {
            override fun ExtensionRegistrarContext.configurePlugin() { +::Checkers }
        })
    }
}

class Checkers(session: FirSession) : FirAdditionalCheckersExtension(session) {
    override val declarationCheckers = object : DeclarationCheckers() {
        override val fileCheckers: Set<FirFileChecker> = setOf(Files)
    }
}

val out = File(System.getenv("OCCURRENCES_OUT")).printWriter()

object Files : FirFileChecker(MppCheckerKind.Common) {
    context(context: CheckerContext, reporter: DiagnosticReporter)
    override fun check(declaration: FirFile) {
        synchronized(out) {
            declaration.accept(Walk(declaration, context.session))
            out.flush()
        }
    }
}

class Walk(val file: FirFile, val session: FirSession) : FirVisitorVoid() {
    val path = file.sourceFile?.path ?: "-"
    val parents = ArrayList<FirElement>()

    override fun visitElement(element: FirElement) {
        parents.add(element)
        element.acceptChildren(this)
        parents.removeAt(parents.size - 1)
    }

    fun classOf(id: ClassId?) = if (id == null || id.isLocal) null else session.symbolProvider.getClassLikeSymbolByClassId(id)

    fun isOfLocalClass(symbol: FirCallableSymbol<*>) = (symbol.dispatchReceiverType as? ConeClassLikeType)?.lookupTag?.classId?.isLocal == true

    fun isLocal(symbol: FirCallableSymbol<*>) = symbol.callableId?.isLocal == true && symbol !is FirPropertySymbol

    // What is written of a member that the compiler makes: that of the type to which it delegates, and of a function that makes a value of a functional
    // interface the interface.
    fun written(symbol: FirCallableSymbol<*>): FirBasedSymbol<*> {
        val real = symbol.unwrapFakeOverrides()
        if (real.origin is FirDeclarationOrigin.SamConstructor) return classOf(real.resolvedReturnType.classId) ?: real
        return real.fir.delegatedWrapperData?.wrapped?.symbol?.let { written(it) } ?: real
    }

    fun target(symbol: FirBasedSymbol<*>): String {
        val isVariable = symbol is FirPropertySymbol && symbol.isLocal && symbol.dispatchReceiverType == null
        if (symbol is FirTypeParameterSymbol || symbol is FirValueParameterSymbol || isVariable) return "local\t0\t-"
        val real = if (symbol is FirCallableSymbol<*>) written(symbol) else symbol
        val of = when (real) {
            // A member of an object without a name, and a local function, is used in its file alone.
            is FirCallableSymbol<*> -> session.firProvider.getFirCallableContainerFile(real) ?: if (isOfLocalClass(real) || isLocal(real)) file else null
            is FirClassLikeSymbol<*> -> if (real.classId.isLocal) file else session.firProvider.getFirClassifierContainerFileIfAny(real.classId)
            else -> null
        }
        val name = when (real) {
            is FirConstructorSymbol -> real.callableId.className?.shortName()?.asString() ?: "constructor"
            is FirCallableSymbol<*> -> real.name.asString()
            is FirClassLikeSymbol<*> -> real.classId.shortClassName.asString()
            else -> "-"
        }
        // A constructor in the head of a class, or none that is written, is the class.
        val written = if (real is FirConstructorSymbol && real.fir.isPrimary) classOf(real.callableId.classId) ?: real else real
        return (of?.sourceFile?.path ?: "-") + "\t" + (written.fir.source?.startOffset ?: -1) + "\t" + name
    }

    fun write(kind: String, name: String, source: KtSourceElement?, symbol: FirBasedSymbol<*>) {
        // The name of a plain read has the place of the whole read.
        val isWritten = source?.kind is KtRealSourceElementKind || source?.kind == KtFakeSourceElementKind.ReferenceInAtomicQualifiedAccess
        if (source == null || !isWritten) return
        out.println("$kind\t$name\t$path\t${source.startOffset}\t" + target(symbol))
    }

    override fun visitResolvedNamedReference(resolvedNamedReference: FirResolvedNamedReference) {
        val symbol = resolvedNamedReference.resolvedSymbol
        val holder = parents.lastOrNull()
        val around = parents.getOrNull(parents.size - 2)
        val kind = when {
            holder is FirAnnotation -> "decorator"
            symbol is FirConstructorSymbol -> "construct"
            holder is FirFunctionCall -> "call"
            around is FirVariableAssignment && around.lValue === holder -> "write"
            else -> "read"
        }
        write(kind, resolvedNamedReference.name.asString(), resolvedNamedReference.source, symbol)
    }

    override fun visitResolvedQualifier(resolvedQualifier: FirResolvedQualifier) {
        val id = resolvedQualifier.classId
        val symbol = classOf(id)
        if (id != null && symbol != null) write("type", id.shortClassName.asString(), resolvedQualifier.source, symbol)
        visitElement(resolvedQualifier)
    }

    override fun visitResolvedTypeRef(resolvedTypeRef: FirResolvedTypeRef) {
        val user = resolvedTypeRef.delegatedTypeRef as? FirUserTypeRef
        val part = user?.qualifier?.lastOrNull()
        val type = resolvedTypeRef.coneType.let { it.abbreviatedTypeOrSelf }
        val symbol = (type as? ConeClassLikeType)?.let { classOf(it.lookupTag.classId) }
            ?: (type as? ConeTypeParameterType)?.lookupTag?.typeParameterSymbol
        val holder = parents.lastOrNull()
        val kind = when {
            holder is FirClass && resolvedTypeRef in holder.superTypeRefs -> "inherit"
            holder is FirAnnotation -> "decorator"
            else -> "type"
        }
        if (part != null && symbol != null) write(kind, part.name.asString(), part.source, symbol)
        user?.let { visitElement(it) }
        user?.qualifier?.forEach { one -> one.typeArgumentList.typeArguments.forEach { it.accept(this) } }
    }

    override fun visitResolvedImport(resolvedImport: FirResolvedImport) {
        val name = resolvedImport.importedName ?: return
        if (resolvedImport.isAllUnder) return
        val owner = resolvedImport.resolvedParentClassId
        val found = if (owner != null) listOfNotNull(classOf(owner.createNestedClassId(name)))
        else listOfNotNull(classOf(ClassId(resolvedImport.packageFqName, name))) +
            session.symbolProvider.getTopLevelCallableSymbols(resolvedImport.packageFqName, name)
        for (symbol in found) write("import", name.asString(), resolvedImport.source, symbol)
    }
}
