import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.PrintStream;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.tools.*;

/** Occurrences of a Java project, by javac (JDK 17 or newer): every name that is no definition, with the place of what it refers to.
 *
 * <pre>java Java.java ROOT [CLASSPATH]  > occurrences.jsonl</pre>
 *
 * Rows are those of typescript.js. All sources below ROOT are compiled as one program; what needs a library that CLASSPATH lacks is not
 * decided. Kinds: call, construct, type, inherit, import, decorator, key (of an annotation), write, read. */
public class Java extends TreePathScanner<Void, Void> {
  static final Set<ElementKind> LOCALS = EnumSet.of(ElementKind.PARAMETER, ElementKind.LOCAL_VARIABLE, ElementKind.EXCEPTION_PARAMETER,
      ElementKind.RESOURCE_VARIABLE, ElementKind.BINDING_VARIABLE, ElementKind.TYPE_PARAMETER);
  static final Set<String> LEFT_OUT = Set.of("target", "build", "out", "node_modules");

  final Path root;
  final Trees trees;
  final SourcePositions positions;
  final PrintStream out;
  final Map<CompilationUnitTree, String> texts = new HashMap<>();
  CompilationUnitTree unit;
  int count;

  Java(Path root, Trees trees, PrintStream out) {
    this.root = root;
    this.trees = trees;
    this.positions = trees.getSourcePositions();
    this.out = out;
  }

  public static void main(String[] arguments) throws IOException {
    Path root = Path.of(arguments[0]).toRealPath();
    List<Path> sources;
    try (Stream<Path> below = Files.walk(root)) {
      sources = below.filter(path -> path.toString().endsWith(".java") && !isLeftOut(root.relativize(path)))
          .filter(path -> !path.endsWith("module-info.java")).sorted().collect(Collectors.toList());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    List<String> options = new ArrayList<>(List.of("-proc:none", "-Xmaxerrs", "0", "-nowarn", "--release", "17"));
    if (arguments.length > 1) options.addAll(List.of("-classpath", arguments[1]));
    JavacTask task = (JavacTask) compiler.getTask(null, manager, found -> {}, options, null, manager.getJavaFileObjectsFromPaths(sources));
    try (PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), false, StandardCharsets.UTF_8)) {
      Java made = new Java(root, Trees.instance(task), out);
      Iterable<? extends CompilationUnitTree> units = task.parse();
      task.analyze();
      for (CompilationUnitTree unit : units) made.file(unit);
      System.err.println(made.count + " occurrences");
    }
  }

  static boolean isLeftOut(Path below) {
    for (Path part : below) if (LEFT_OUT.contains(part.toString()) || part.toString().startsWith(".")) return true;
    return false;
  }

  void file(CompilationUnitTree unit) {
    this.unit = unit;
    out.println("{\"file\": " + quoted(path(unit)) + "}");
    scan(new TreePath(unit), null);
  }

  String path(CompilationUnitTree of) {
    Path path = Path.of(of.getSourceFile().toUri());
    return path.startsWith(root) ? root.relativize(path).toString().replace('\\', '/') : null;
  }

  String text(CompilationUnitTree of) {
    return texts.computeIfAbsent(of, it -> {
      try {
        return it.getSourceFile().getCharContent(true).toString();
      } catch (IOException error) {
        throw new java.io.UncheckedIOException(error);
      }
    });
  }

  static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** The place of a word at or behind a position, -1 if there is none. */
  static int find(String text, String word, long from) {
    if (from < 0) return -1;
    for (int at = (int) from; (at = text.indexOf(word, at)) >= 0; at++) {
      int end = at + word.length();
      boolean begins = at == 0 || !Character.isJavaIdentifierPart(text.charAt(at - 1));
      if (begins && (end == text.length() || !Character.isJavaIdentifierPart(text.charAt(end)))) return at;
    }
    return -1;
  }

  /** Where an element is defined: path, line and name as JSON; null outside of the project. */
  String place(Element element) {
    TreePath path = trees.getPath(element);
    String name = element.getSimpleName().toString();
    if (element.getKind() == ElementKind.CONSTRUCTOR) {
      // An implicit constructor is its class.
      name = element.getEnclosingElement().getSimpleName().toString();
      if (path == null) path = trees.getPath(element.getEnclosingElement());
    }
    if (path == null || path(path.getCompilationUnit()) == null) return null;
    CompilationUnitTree of = path.getCompilationUnit();
    String text = text(of);
    Tree leaf = path.getLeaf();
    long from = positions.getStartPosition(of, leaf);
    ModifiersTree modifiers = leaf instanceof ClassTree type ? type.getModifiers()
        : leaf instanceof MethodTree method ? method.getModifiers() : leaf instanceof VariableTree variable ? variable.getModifiers() : null;
    Tree type = leaf instanceof MethodTree method ? method.getReturnType() : leaf instanceof VariableTree variable ? variable.getType() : null;
    for (Tree before : new Tree[] {modifiers, type}) {
      // The constants of an enumeration and components of a record have types without a place of their own.
      long end = before == null || element.getKind() == ElementKind.ENUM_CONSTANT ? -1 : positions.getEndPosition(of, before);
      if (end > from) from = end;
    }
    int at = find(text, name, from);
    if (at < 0) return null;
    return "[" + quoted(path(of)) + ", " + of.getLineMap().getLineNumber(at) + ", " + quoted(name) + "]";
  }

  void row(Tree tree, String name, long from, String kind) {
    Element element = trees.getElement(getCurrentPath());
    row(element, name, find(text(unit), name, from), kind);
  }

  void row(Element element, String name, int at, String kind) {
    if (at < 0 || element == null || element.getKind() == ElementKind.PACKAGE || element.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) return;
    if (kind.equals("call") || kind.equals("construct")) {
      if (hasOpenArgument(element)) return;
    }
    LineMap lines = unit.getLineMap();
    long line = lines.getLineNumber(at);
    int column = text(unit).substring((int) lines.getStartPosition(line), at).getBytes(StandardCharsets.UTF_8).length;
    String target = place(element);
    // What the compiler makes (the members of a record) has no place: not decided.
    boolean isMade = target == null && element.getEnclosingElement() != null && trees.getPath(element.getEnclosingElement()) != null;
    if (isMade || target == null && element.getKind() == ElementKind.CONSTRUCTOR) return;
    String targets = target == null ? "" : target;
    if (target != null && element.getKind() == ElementKind.CONSTRUCTOR) {
      String type = place(element.getEnclosingElement());
      if (type != null && !type.equals(target)) targets += ", " + type;
    }
    out.println("{\"path\": " + quoted(path(unit)) + ", \"line\": " + line + ", \"col\": " + column + ", \"name\": " + quoted(name)
        + ", \"kind\": " + quoted(kind) + ", \"targets\": [" + targets + "]" + (LOCALS.contains(element.getKind()) ? ", \"local\": true" : "")
        + (target == null ? ", \"outside\": true" : "") + "}");
    count++;
  }

  /** True for one of several overloads that is called with an argument of a type that is not known: any of them may be meant. */
  boolean hasOpenArgument(Element element) {
    if (!(element instanceof ExecutableElement)) return false;
    long overloads = element.getEnclosingElement().getEnclosedElements().stream()
        .filter(other -> other.getKind() == element.getKind() && other.getSimpleName().equals(element.getSimpleName())).count();
    if (overloads < 2) return false;
    TreePath path = getCurrentPath();
    while (path != null && !(path.getLeaf() instanceof MethodInvocationTree || path.getLeaf() instanceof NewClassTree)) path = path.getParentPath();
    if (path == null) return false;
    List<? extends ExpressionTree> arguments = path.getLeaf() instanceof MethodInvocationTree call ? call.getArguments() : ((NewClassTree) path.getLeaf()).getArguments();
    for (ExpressionTree argument : arguments) if (isOpen(trees.getTypeMirror(new TreePath(path, argument)))) return true;
    return false;
  }

  static boolean isOpen(javax.lang.model.type.TypeMirror type) {
    if (type == null || type.getKind() == javax.lang.model.type.TypeKind.ERROR) return true;
    return type instanceof javax.lang.model.type.DeclaredType declared && declared.getTypeArguments().stream().anyMatch(Java::isOpen);
  }

  /** How the expression at the current path is used. */
  String kind(Element element) {
    TreePath path = getCurrentPath();
    Tree leaf = path.getLeaf(), around = path.getParentPath().getLeaf();
    while (around instanceof ParenthesizedTree) {
      path = path.getParentPath();
      leaf = path.getLeaf();
      around = path.getParentPath().getLeaf();
    }
    if (around instanceof MethodInvocationTree call && call.getMethodSelect() == leaf) return "call";
    if (around instanceof AnnotationTree annotation && annotation.getAnnotationType() == leaf) return "decorator";
    boolean isType = element != null && (element.getKind().isClass() || element.getKind().isInterface() || element.getKind() == ElementKind.TYPE_PARAMETER);
    if (isType) {
      Tree whole = leaf, holder = around;
      if (around instanceof ParameterizedTypeTree given && given.getType() == leaf) {
        whole = around;
        holder = path.getParentPath().getParentPath().getLeaf();
      }
      if (holder instanceof ClassTree type && (type.getExtendsClause() == whole || type.getImplementsClause().contains(whole))) return "inherit";
      return "type";
    }
    if (around instanceof AssignmentTree assignment && assignment.getVariable() == leaf) {
      return path.getParentPath().getParentPath().getLeaf() instanceof AnnotationTree ? "key" : "write";
    }
    if (around instanceof CompoundAssignmentTree assignment && assignment.getVariable() == leaf) return "write";
    if (around instanceof UnaryTree unary && EnumSet.of(Tree.Kind.PREFIX_INCREMENT, Tree.Kind.PREFIX_DECREMENT, Tree.Kind.POSTFIX_INCREMENT,
        Tree.Kind.POSTFIX_DECREMENT).contains(unary.getKind())) return "write";
    return "read";
  }

  @Override
  public Void visitIdentifier(IdentifierTree tree, Void nothing) {
    String name = tree.getName().toString();
    long start = positions.getStartPosition(unit, tree);
    Element element = trees.getElement(getCurrentPath());
    boolean isConstructed = getCurrentPath().getParentPath().getLeaf() instanceof NewClassTree made && made.getIdentifier() == tree
        || getCurrentPath().getParentPath().getLeaf() instanceof ParameterizedTypeTree && isConstructed(getCurrentPath().getParentPath());
    if (start >= 0 && text(unit).startsWith(name, (int) start) && !name.equals("this") && !name.equals("super") && !isConstructed) {
      row(element, name, (int) start, kind(element));
    }
    return super.visitIdentifier(tree, nothing);
  }

  static boolean isConstructed(TreePath path) {
    return path.getParentPath().getLeaf() instanceof NewClassTree made && made.getIdentifier() == path.getLeaf();
  }

  @Override
  public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
    String name = tree.getIdentifier().toString();
    Element element = trees.getElement(getCurrentPath());
    TreePath around = getCurrentPath().getParentPath();
    boolean isConstructed = isConstructed(getCurrentPath()) || around.getLeaf() instanceof ParameterizedTypeTree && isConstructed(around);
    if (around.getLeaf() instanceof ImportTree) {
      // An import is one site, at the end of its path.
      if (!name.equals("*")) row(element, name, find(text(unit), name, positions.getEndPosition(unit, tree.getExpression())), "import");
      return null;
    }
    if (!name.equals("class") && !name.equals("this") && !isConstructed) {
      row(element, name, find(text(unit), name, positions.getEndPosition(unit, tree.getExpression())), kind(element));
    }
    return super.visitMemberSelect(tree, nothing);
  }

  @Override
  public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
    String name = tree.getName().toString();
    if (!name.equals("<init>")) {
      row(tree, name, positions.getEndPosition(unit, tree.getQualifierExpression()), "read");
    }
    return super.visitMemberReference(tree, nothing);
  }

  @Override
  public Void visitNewClass(NewClassTree tree, Void nothing) {
    Tree type = tree.getIdentifier();
    if (type instanceof AnnotatedTypeTree annotated) type = annotated.getUnderlyingType();
    if (type instanceof ParameterizedTypeTree given) type = given.getType();
    Element element = trees.getElement(getCurrentPath());
    // The constructor of an anonymous class is none of the project: what is named is its base.
    if (tree.getClassBody() != null) element = trees.getElement(new TreePath(getCurrentPath(), tree.getIdentifier()));
    if (type instanceof MemberSelectTree member) {
      row(element, member.getIdentifier().toString(), find(text(unit), member.getIdentifier().toString(),
          positions.getEndPosition(unit, member.getExpression())), "construct");
    } else if (type instanceof IdentifierTree name) {
      // The type that a constant of an enumeration constructs is not written.
      int at = (int) positions.getStartPosition(unit, name);
      if (at >= 0 && text(unit).startsWith(name.getName().toString(), at)) row(element, name.getName().toString(), at, "construct");
    }
    return super.visitNewClass(tree, nothing);
  }
}
