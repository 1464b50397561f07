// Occurrences of a C# project, by Roslyn: csharp.py compiles and runs this.
//
//   csharp.dll ROOT [SYMBOL ..]  > occurrences.jsonl
//
// All files below ROOT are one compilation, with the libraries of the runtime that this runs on; what other libraries define is not
// decided, and neither is what several projects define under one name. The symbols are those of the preprocessor.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

static class Occurrences
{
    static readonly string[] Implicit = { "System", "System.Collections.Generic", "System.IO", "System.Linq", "System.Net.Http", "System.Threading",
                                          "System.Threading.Tasks" };
    static readonly StringBuilder line = new StringBuilder();
    static string root;

    static void Main(string[] arguments)
    {
        root = Path.GetFullPath(arguments[0]).TrimEnd('/') + "/";
        var options = new CSharpParseOptions(LanguageVersion.Preview, DocumentationMode.None, SourceCodeKind.Regular, arguments.Skip(1));
        var trees = Files("*.cs").Select(path => CSharpSyntaxTree.ParseText(File.ReadAllText(path), options, path)).ToList();
        var platform = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")).Split(':').Where(path => path.Contains("/Microsoft.NETCore.App/"));
        var settings = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);
        var given = CSharpSyntaxTree.ParseText(Usings(), options, "");
        var compilation = CSharpCompilation.Create("project", trees.Cast<SyntaxTree>().Concat(new[] { given }),
            platform.Where(path => path.EndsWith(".dll")).Select(path => (MetadataReference)MetadataReference.CreateFromFile(path)), settings);
        using (var writer = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)))
            foreach (var tree in trees)
                Write(tree, compilation.GetSemanticModel(tree), writer);
    }

    static IEnumerable<string> Files(string pattern)
    {
        return Directory.EnumerateFiles(root, pattern, SearchOption.AllDirectories)
            .Where(path => !Regex.IsMatch(path.Substring(root.Length - 1), "/(bin|obj|\\.git|node_modules)/")).OrderBy(path => path, StringComparer.Ordinal);
    }

    // The imports that project files give to every file.
    static string Usings()
    {
        var projects = Files("*.csproj").Concat(Files("*.props")).Select(File.ReadAllText).ToList();
        var named = projects.SelectMany(text => Regex.Matches(text, "<Using Include=\"([^\"]+)\"\\s*(Static=\"[Tt]rue\")?\\s*/>").Cast<Match>())
            .Select(found => (found.Groups[2].Success ? "static " : "") + found.Groups[1].Value);
        if (projects.Any(text => Regex.IsMatch(text, "<ImplicitUsings>\\s*(enable|true)", RegexOptions.IgnoreCase)))
            named = named.Concat(Implicit);
        return string.Concat(named.Distinct().Select(name => "global using " + name + ";\n"));
    }

    static void Write(SyntaxTree tree, SemanticModel model, TextWriter writer)
    {
        var path = tree.FilePath.Substring(root.Length);
        var text = tree.GetText();
        var whole = tree.GetRoot();
        var skipped = whole.DescendantTrivia().Where(trivia => trivia.IsKind(SyntaxKind.DisabledTextTrivia)).SelectMany(trivia =>
        {
            var span = text.Lines.GetLinePositionSpan(trivia.Span);
            return Enumerable.Range(span.Start.Line + 1, span.End.Line - span.Start.Line + (span.End.Character > 0 ? 1 : 0));
        });
        writer.WriteLine("{\"path\": " + Quoted(path) + ", \"inactive\": [" + string.Join(", ", skipped.Distinct()) + "]}");
        foreach (var name in whole.DescendantNodes().OfType<SimpleNameSyntax>())
        {
            if (name.IsVar || name.Identifier.IsMissing || name.IsNint || name.IsNuint || name.IsUnmanaged)
                continue;
            var symbols = Symbols(name, model).ToList();
            if (symbols.Any(symbol => symbol is INamespaceSymbol || symbol is IDiscardSymbol))
                continue;
            var place = text.Lines.GetLinePosition(name.Identifier.SpanStart);
            var before = text.ToString(new Microsoft.CodeAnalysis.Text.TextSpan(name.Identifier.SpanStart - place.Character, place.Character));
            line.Clear().Append("{\"path\": ").Append(Quoted(path)).Append(", \"line\": ").Append(place.Line + 1);
            line.Append(", \"col\": ").Append(Encoding.UTF8.GetByteCount(before)).Append(", \"name\": ").Append(Quoted(name.Identifier.ValueText));
            line.Append(", \"kind\": ").Append(Quoted(Kind(name, symbols)));
            if (symbols.Any())
            {
                var places = symbols.SelectMany(symbol => symbol.Locations.Where(location => location.IsInSource && location.SourceTree.FilePath != "")
                    .Select(location => Target(symbol, location))).Distinct();
                line.Append(", \"targets\": [").Append(string.Join(", ", places)).Append("]");
                if (symbols.All(IsLocal))
                    line.Append(", \"local\": true");
                else if (symbols.Any(symbol => symbol.Locations.All(location => !location.IsInSource) && !symbol.IsImplicitlyDeclared))
                    line.Append(", \"outside\": true");
            }
            writer.WriteLine(line.Append("}"));
        }
    }

    // What a name refers to: of a construction and an attribute the type and the constructor, of an alias itself and what it means.
    static IEnumerable<ISymbol> Symbols(SimpleNameSyntax name, SemanticModel model)
    {
        var symbol = model.GetSymbolInfo(name).Symbol;
        var alias = model.GetAliasInfo(name);
        if (symbol == null && alias != null)
            symbol = alias.Target;
        if (alias != null)
            yield return alias;
        if (symbol == null || symbol.Kind == SymbolKind.ErrorType || symbol.Kind == SymbolKind.DynamicType)
            yield break;
        var method = symbol as IMethodSymbol;
        if (method != null && method.ReducedFrom != null)
            symbol = method.ReducedFrom;
        yield return Definition(symbol);
        if (method != null && method.MethodKind == MethodKind.Constructor)
            yield return Definition(method.ContainingType);
        var made = Whole(name).Parent as ObjectCreationExpressionSyntax;
        var maker = made != null && made.Type == Whole(name) ? model.GetSymbolInfo(made).Symbol : null;
        if (maker != null && !maker.IsImplicitlyDeclared)
            yield return Definition(maker);
    }

    static ISymbol Definition(ISymbol symbol)
    {
        symbol = symbol.OriginalDefinition;
        var method = symbol as IMethodSymbol;
        return method != null && method.PartialImplementationPart != null ? method.PartialImplementationPart
            : method != null && method.AssociatedSymbol != null ? method.AssociatedSymbol : symbol;
    }

    static bool IsLocal(ISymbol symbol)
    {
        return symbol is ILocalSymbol || symbol is IParameterSymbol || symbol is IRangeVariableSymbol || symbol is ITypeParameterSymbol || symbol is ILabelSymbol
            || symbol.ContainingType != null && (symbol.ContainingType.IsAnonymousType || symbol.ContainingType.IsTupleType);
    }

    // The qualified name that a name ends, or the name.
    static SyntaxNode Whole(SimpleNameSyntax name)
    {
        SyntaxNode node = name;
        while (node.Parent is QualifiedNameSyntax && ((QualifiedNameSyntax)node.Parent).Right == node
            || node.Parent is AliasQualifiedNameSyntax && ((AliasQualifiedNameSyntax)node.Parent).Name == node)
            node = node.Parent;
        return node;
    }

    static string Kind(SimpleNameSyntax name, List<ISymbol> symbols)
    {
        var node = Whole(name);
        if (node.Parent is AttributeSyntax)
            return "decorator";
        if (node.Parent is BaseTypeSyntax)
            return "inherit";
        if (node.Parent is NameColonSyntax || node.Parent is NameEqualsSyntax && !(node.Parent.Parent is UsingDirectiveSyntax))
            return "key";
        if (node.FirstAncestorOrSelf<UsingDirectiveSyntax>() != null)
            return "import";
        var made = node.Parent as ObjectCreationExpressionSyntax;
        if (made != null && made.Type == node)
            return "construct";
        var access = node.Parent as MemberAccessExpressionSyntax;
        if (access != null && access.Name == node || node.Parent is MemberBindingExpressionSyntax)
            node = node.Parent;
        var call = node.Parent as InvocationExpressionSyntax;
        if (call != null && call.Expression == node)
            return "call";
        var assigned = node.Parent as AssignmentExpressionSyntax;
        if (assigned != null && assigned.Left == node)
            return assigned.Parent.IsKind(SyntaxKind.ObjectInitializerExpression) || assigned.Parent.IsKind(SyntaxKind.WithInitializerExpression) ? "key" : "write";
        if (new[] { SyntaxKind.PreIncrementExpression, SyntaxKind.PreDecrementExpression, SyntaxKind.PostIncrementExpression,
                    SyntaxKind.PostDecrementExpression }.Any(kind => node.Parent.IsKind(kind)))
            return "write";
        return symbols.Any(symbol => symbol is ITypeSymbol) || !symbols.Any() && node.Parent is TypeArgumentListSyntax ? "type" : "read";
    }

    static string Target(ISymbol symbol, Location location)
    {
        var start = location.GetLineSpan().StartLinePosition;
        return "[" + Quoted(location.SourceTree.FilePath.Substring(root.Length)) + ", " + (start.Line + 1) + ", " + Quoted(Named(symbol)) + "]";
    }

    static string Named(ISymbol symbol)
    {
        var method = symbol as IMethodSymbol;
        return method != null && method.MethodKind == MethodKind.Constructor ? method.ContainingType.Name : symbol.Name;
    }

    static string Quoted(string text)
    {
        return "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";
    }
}
