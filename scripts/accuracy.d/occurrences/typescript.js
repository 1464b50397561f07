#!/usr/bin/env node
/* Occurrences of a TypeScript or JavaScript project, by the type checker of `typescript` (5.x, in NODE_PATH): every name that is no
 * definition, with the places of what it refers to.
 *
 *     typescript.js ROOT [FILE]...  > occurrences.jsonl
 *
 * FILEs (default: tsconfig.json, or all sources of a project without one) are configurations or sources. A row is
 * {path, line, col, name, kind, targets: [[path, line, name], ..]}: `targets` is empty for what is outside of ROOT; a row without it could not be
 * decided (`any`). A name that a declaration file declares has the place of its definition in the module next to it as well. `local` marks parameters, local variables and type parameters, `outside` what has a declaration outside as well. Columns count bytes, from 0, as in the view refs. Kinds: call, construct, jsx, type, inherit, import, decorator, key, write, read. */
const ts = require("typescript"), path = require("path"), fs = require("fs");
const [, , rootArgument, ...given] = process.argv;
const root = fs.realpathSync(rootArgument);

const LEFT_OUT = /(^|\/)(node_modules|\.git|dist|build|coverage)(\/|$)/;
const SOURCE = /\.(?:[cm]?[jt]s|[jt]sx)$/;

function sources(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const whole = path.join(folder, entry.name);
    if (LEFT_OUT.test(path.relative(root, whole)) || entry.isSymbolicLink()) return [];
    return entry.isDirectory() ? sources(whole) : SOURCE.test(entry.name) ? [whole] : [];
  });
}

function program() {
  const defaults = {
    allowJs: true, checkJs: true, noEmit: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve, resolveJsonModule: true, maxNodeModuleJsDepth: 0,
  };
  const configurations = given.filter(name => name.endsWith(".json"));
  if (!given.length && fs.existsSync(path.join(root, "tsconfig.json"))) configurations.push("tsconfig.json");
  let options = defaults, names = given.filter(name => !name.endsWith(".json")).map(name => path.resolve(root, name));
  for (const name of configurations) {
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: found => { throw new Error(JSON.stringify(found.messageText)); } };
    const parsed = ts.getParsedCommandLineOfConfigFile(path.resolve(root, name), {}, host);
    options = { ...parsed.options, allowJs: true, noEmit: true, composite: false, incremental: false };
    names.push(...parsed.fileNames);
  }
  // What a configuration leaves out (tests, examples) is read with its options.
  names.push(...sources(root));
  return ts.createProgram([...new Set(names)], options);
}

const made = program(), checker = made.getTypeChecker();

const relatives = new Map();
function relative(source) {
  if (!relatives.has(source)) {
    let name = source.fileName;
    try { name = fs.realpathSync(name); } catch { /* one of the compiler's own */ }
    const below = path.relative(root, name).split(path.sep).join("/");
    relatives.set(source, below.startsWith("..") || LEFT_OUT.test(below) ? null : below);
  }
  return relatives.get(source);
}

/* The name of a declaration, else the declaration itself. */
function nameOf(declaration) {
  const named = ts.getNameOfDeclaration(declaration);
  if (named) return named;
  if (ts.isConstructorDeclaration(declaration)) return nameOf(declaration.parent);
  return declaration;
}

function places(symbol) {
  const found = new Map();
  for (const declaration of symbol.declarations ?? []) {
    const source = declaration.getSourceFile(), below = relative(source);
    if (below === null) continue;
    const name = nameOf(declaration), line = source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1;
    const text = symbol.escapedName === "export=" ? "module.exports" : name === declaration ? symbol.name : name.text ?? name.getText(source);
    found.set(`${below}:${line}:${text}`, [below, ts.isSourceFile(declaration) ? 0 : line, text]);
    // A shorthand is its value as well, the name that is in scope there, and so is a key before a plain name.
    const value = ts.isShorthandPropertyAssignment(declaration) && followed(checker.getShorthandAssignmentValueSymbol(declaration)) || named(declaration);
    const defined = value || exportedName(declaration) || exportedAgain(declaration) || definedBeside(declaration, symbol);
    for (const place of defined ? places(defined) : []) found.set(place.join(":"), place);
  }
  return [...found.values()];
}

/* What `module.exports = x` and `const x = module.exports = ..` export by a name of its own: x, the function or class of an expression, or what
 * a module that is exported again exports. */
function exportedName(declaration) {
  if (!ts.isBinaryExpression(declaration)) return undefined;
  if (ts.isIdentifier(declaration.right)) return followed(checker.getSymbolAtLocation(declaration.right));
  if (ts.isVariableDeclaration(declaration.parent)) return checker.getSymbolAtLocation(declaration.parent.name);
  const valued = checker.getTypeAtLocation(declaration.right).symbol;
  return valued?.declarations?.length && !valued.declarations.includes(declaration) && !ts.isObjectLiteralExpression(valued.declarations[0]) ? valued : undefined;
}

/* What `exports.name = require("module")` exports again: all that the module is. */
function exportedAgain(declaration) {
  const assigned = ts.isBinaryExpression(declaration) ? declaration : declaration.parent;
  if (!assigned || !ts.isBinaryExpression(assigned) || !ts.isCallExpression(assigned.right) || assigned.right.expression.getText() !== "require") return undefined;
  const module = assigned.right.arguments[0] && checker.getSymbolAtLocation(assigned.right.arguments[0]);
  return followed(module?.exports?.get("export="));
}

/* The function or class that a key of an object names (`{ Menu: Menu }`). */
function named(declaration) {
  if (!ts.isPropertyAssignment(declaration) || !ts.isIdentifier(declaration.initializer)) return undefined;
  const value = followed(checker.getSymbolAtLocation(declaration.initializer));
  return value?.declarations?.length && value.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class | ts.SymbolFlags.Variable) ? value : undefined;
}

/* The definitions that the compiler takes for other names of what they lead to, from a name on: the variable that holds a member of a module
 * (`const x = require("y").x`), and a member of a namespace (`export import x = Y`) or of the exports (`exports.x = y.x`). */
function holders(symbol) {
  const found = [];
  for (let next = symbol; next && next.flags & ts.SymbolFlags.Alias && found.length < 9;) {
    found.push(next);
    // The checker knows the next one of aliases that a declaration makes, and fails for others.
    try { next = checker.getImmediateAliasedSymbol(next); } catch { break; }
  }
  const isNamed = declaration => ts.isImportEqualsDeclaration(declaration) && !ts.isExternalModuleReference(declaration.moduleReference)
    || ts.isPropertyAccessExpression(declaration) || ts.isBinaryExpression(declaration);
  return found.filter((other, place) => other.declarations?.every(one => place === 0 && ts.isVariableDeclaration(one) || isNamed(one)));
}

const byName = new Map(made.getSourceFiles().map(source => [source.fileName, source]));

/* What the module next to a declaration file (`x.js` of `x.d.ts`) has for a declaration: what it exports under that name, or the member of a class that it
 * exports. A class that is exported may have its members from a class that is not. */
function definedBeside(declaration, symbol) {
  const source = declaration.getSourceFile(), plain = source.fileName.replace(/\.d\.([cm]?)ts$/, ".$1js");
  if (plain === source.fileName) return undefined;
  const module = byName.get(plain)?.symbol, own = source.symbol;
  if (!module || !own) return undefined;
  const stated = exportsOf(own), defined = exportsOf(module);
  const definition = wanted => {
    const [name] = [...stated].find(([, end]) => end === wanted) ?? [...stated].find(([, end]) => derives(end, wanted)) ?? [];
    const found = name !== undefined && defined.get(name);
    return found && found !== wanted ? found : undefined;
  };
  const around = symbol.parent && symbol.parent.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface) ? definition(symbol.parent) : undefined;
  return definition(symbol) ?? around?.members?.get(symbol.escapedName) ?? around?.exports?.get(symbol.escapedName);
}

/* Name -> what a module exports, with the value that it exports as a whole: what is assigned, where that has a name. */
function exportsOf(module) {
  const whole = module.exports?.get("export="), all = checker.getExportsOfModule(module).map(exported => [exported.escapedName, exported]);
  return new Map([...all, ["export=", whole]].map(([name, symbol]) => {
    const end = followed(symbol), declaration = end?.declarations?.[0];
    const assigned = declaration && (ts.isBinaryExpression(declaration) ? declaration : declaration.parent);
    return [name, assigned && ts.isBinaryExpression(assigned) && exportedName(assigned) || end];
  }));
}

function derives(symbol, base) {
  const bases = declaration => ts.isClassLike(declaration) ? declaration.heritageClauses ?? [] : [];
  const isBase = type => followed(checker.getSymbolAtLocation(type.expression)) === base;
  return !!symbol?.declarations?.some(declaration => bases(declaration).some(clause => clause.types.some(isBase)));
}

function followed(symbol) {
  const end = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return !end || !end.declarations && (end.escapedName === "unknown" || end.flags & ts.SymbolFlags.TypeAlias) ? undefined : end;
}

/* True for what is not the definition: `declare module "*.vue"` represents files that the compiler does not read, and so do outputs. */
function standsIn(symbol) {
  return symbol.declarations.every(declaration => {
    const source = declaration.getSourceFile(), below = path.relative(root, source.fileName);
    if (!below.startsWith("..") && !/(^|\/)node_modules\//.test(below) && relative(source) === null) return true;
    for (let around = declaration; around; around = around.parent)
      if (ts.isModuleDeclaration(around) && ts.isStringLiteral(around.name) && around.name.text.includes("*")) return true;
    return false;
  });
}

/* True for the name in `exports.name = ..`, which makes the member. */
function isExported(node) {
  const member = node.parent;
  return ts.isPropertyAccessExpression(member) && member.name === node && /^(module\.)?exports$/.test(member.expression.getText()) && ASSIGNED(member);
}

function isDefinition(node) {
  const parent = node.parent;
  if (ts.isBindingElement(parent)) return parent.name === node;
  if (ts.isImportClause(parent) || ts.isNamespaceImport(parent) || ts.isNamespaceExport(parent)) return true;
  if (ts.isImportSpecifier(parent)) return parent.name === node && !!parent.propertyName;
  if (ts.isExportSpecifier(parent)) return parent.name === node && !!parent.propertyName;
  if (ts.isPropertyAssignment(parent) || ts.isShorthandPropertyAssignment(parent) || ts.isJsxAttribute(parent)) return false;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent) || ts.isMetaProperty(parent)) return true;
  return (ts.isDeclaration(parent) || ts.isTypePredicateNode(parent) || ts.isJSDocNameReference?.(parent)) && parent.name === node;
}

const ASSIGNED = node => {
  let place = node;
  while (ts.isParenthesizedExpression(place.parent) || ts.isNonNullExpression(place.parent)) place = place.parent;
  const parent = place.parent;
  if (ts.isBinaryExpression(parent) && parent.left === place) {
    const token = parent.operatorToken.kind;
    return token >= ts.SyntaxKind.FirstAssignment && token <= ts.SyntaxKind.LastAssignment;
  }
  return (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent))
    && [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(parent.operator);
};

function kindOf(node) {
  const parent = node.parent;
  let whole = ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return "import";
  if (ts.isPropertyAssignment(parent) && parent.name === node) return "key";
  if (ts.isShorthandPropertyAssignment(parent)) return "read";
  if (ts.isJsxAttribute(parent)) return "key";
  const written = whole;
  while (ts.isParenthesizedExpression(whole.parent) || ts.isNonNullExpression(whole.parent) || ts.isAsExpression(whole.parent)) whole = whole.parent;
  const around = whole.parent;
  if (ts.isCallExpression(around) && around.expression === whole) return "call";
  if (ts.isTaggedTemplateExpression(around) && around.tag === whole) return "call";
  if (ts.isNewExpression(around) && around.expression === whole) return "construct";
  if (ts.isJsxOpeningElement(around) || ts.isJsxSelfClosingElement(around) || ts.isJsxClosingElement(around)) return "jsx";
  if (ts.isDecorator(around)) return "decorator";
  if (ts.isExpressionWithTypeArguments(around)) return ts.isHeritageClause(around.parent) ? "inherit" : "type";
  if (ts.isTypeNode(parent) || ts.isQualifiedName(parent) || ts.isTypeQueryNode(parent)) return "type";
  if (ASSIGNED(written)) return "write";
  return "read";
}

/* The symbols that a name refers to: several where a type is a union. */
function symbolsAt(node) {
  const parent = node.parent;
  if (ts.isShorthandPropertyAssignment(parent)) return [checker.getShorthandAssignmentValueSymbol(parent)];
  if (ts.isPropertyAssignment(parent) && parent.name === node) return keysAt(node);
  if (ts.isJsxAttribute(parent)) return [checker.getSymbolAtLocation(node)];
  if (ts.isExportSpecifier(parent)) {
    const local = checker.getExportSpecifierLocalTargetSymbol(parent);
    return [local];
  }
  return [checker.getSymbolAtLocation(node)];
}

/* True if a symbol has a declaration outside of the project: a library's type that the project extends. */
function isOutside(symbol) {
  return symbol.declarations.some(declaration => relative(declaration.getSourceFile()) === null);
}

/* True for a variable that holds a module in a source where the compiler takes `require` for any function. */
function isRequired(symbol) {
  const value = symbol.valueDeclaration && ts.isVariableDeclaration(symbol.valueDeclaration) && symbol.valueDeclaration.initializer;
  return !(symbol.flags & ts.SymbolFlags.Alias) && !!value && ts.isCallExpression(value) && value.expression.getText() === "require";
}

/* True for the name in a closing tag, which says nothing that the opening one does not. */
function closes(node) {
  let whole = node;
  while (ts.isPropertyAccessExpression(whole.parent)) whole = whole.parent;
  return ts.isJsxClosingElement(whole.parent);
}

/* Objects that represent a file. */
const MODULE_OBJECTS = new Set(["exports", "module"]);

/* The members that a key of an object literal sets, by the type that is wanted of the object. */
function keysAt(node) {
  const object = node.parent.parent, context = ts.isObjectLiteralExpression(object) && checker.getContextualType(object);
  const parts = context ? (context.isUnion() ? context.types : [context]) : [];
  return parts.map(part => part.getProperty(node.text)).filter(Boolean);
}

/* True for a key of an object that is wanted as any value, or that is inside of one: of which type is not known. */
function isForAnything(node) {
  for (let inner = node.parent.parent; inner && !ts.isStatement(inner) && !ts.isFunctionLike(inner); inner = inner.parent) {
    const context = ts.isExpression(inner) && checker.getContextualType(inner);
    if (context && context.flags & ts.TypeFlags.Any) return true;
    if (ts.isCallExpression(inner.parent) && inner !== inner.parent.expression && checker.getTypeAtLocation(inner.parent.expression).flags & ts.TypeFlags.Any) return true;
    const stated = (ts.isAsExpression(inner) || ts.isSatisfiesExpression(inner) || ts.isTypeAssertionExpression(inner)) && inner.type;
    if (stated && checker.getTypeFromTypeNode(stated).flags & ts.TypeFlags.Any) return true;
  }
  return false;
}

/* The members that a pattern without renaming reads. */
function picked(node) {
  const pattern = node.parent.parent;
  const member = ts.isObjectBindingPattern(pattern) && checker.getTypeAtLocation(pattern).getProperty(node.text);
  return member?.declarations?.length ? [member] : [];
}

/* True for a key of an object that what is spread in it has as well: either may be meant. */
function isSpread(node) {
  const object = node.parent.parent;
  return ts.isObjectLiteralExpression(object) && object.properties.some(part =>
    ts.isSpreadAssignment(part) && checker.getTypeAtLocation(part.expression).getProperty(node.text));
}

/* The function that a call of a value reaches, where the value is what another call returned: the index follows values to it. */
function reached(node, kind, known) {
  if (kind !== "call" || known.some(symbol => symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Method | ts.SymbolFlags.Class))) return [];
  let whole = node;
  while (whole.parent && !ts.isCallExpression(whole) && !ts.isStatement(whole)) whole = whole.parent;
  const declaration = ts.isCallExpression(whole) && checker.getResolvedSignature(whole)?.declaration;
  return declaration && ts.isFunctionLike(declaration) && declaration.body && declaration.symbol ? [declaration.symbol] : [];
}

const out = [];
function flush(force) {
  if (!force && out.length < 5000) return;
  if (out.length) fs.writeSync(1, out.join("\n") + "\n");
  out.length = 0;
}

let count = 0;
for (const source of made.getSourceFiles()) {
  const below = relative(source);
  if (below === null) continue;
  out.push(JSON.stringify({ file: below }));
  const lines = source.getLineStarts();
  const row = (node, kind, symbols) => {
    const start = node.getStart(source), place = source.getLineAndCharacterOfPosition(start);
    const col = Buffer.byteLength(source.text.slice(lines[place.line], start));
    const made = { path: below, line: place.line + 1, col, name: node.text, kind };
    const found = symbols.map(followed), known = found.filter(symbol => symbol?.declarations?.length);
    if (known.length && (known.every(standsIn) || known.every(isRequired))) return;
    if (known.length) {
      made.targets = [...known, ...symbols.flatMap(holders), ...reached(node, kind, known)].flatMap(places);
      // The compiler joins a type parameter with the member of its name.
      const isParameter = kind === "type" && known.some(symbol => symbol.declarations.some(ts.isTypeParameterDeclaration));
      if (isParameter || known.every(isLocal)) made.local = true;
      if (known.some(isOutside)) made.outside = true;
    } else if (kind === "key") {
      if (!isForAnything(node) && !isSpread(node)) made.local = true;
    }
    else if (found.some(symbol => symbol)) made.targets = [];
    count++;
    out.push(JSON.stringify(made));
    flush();
  };
  const visit = node => {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && node.text && !MODULE_OBJECTS.has(node.text)) {
      const parent = node.parent;
      if (ts.isBindingElement(parent) && parent.name === node && !parent.propertyName && !parent.dotDotDotToken) row(node, "read", picked(node));
      else if (!isDefinition(node) && !isExported(node) && !closes(node)) row(node, kindOf(node), symbolsAt(node));
      if (ts.isShorthandPropertyAssignment(parent)) row(node, "key", keysAt(node));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/* True for a parameter, a local variable, a type parameter: nothing that other functions refer to. */
function isLocal(symbol) {
  return symbol.declarations.every(declaration => {
    if (ts.isParameter(declaration)) return !ts.isParameterPropertyDeclaration(declaration, declaration.parent);
    if (ts.isTypeParameterDeclaration(declaration)) return true;
    if (!ts.isVariableDeclaration(declaration) && !ts.isBindingElement(declaration) && !ts.isFunctionDeclaration(declaration) && !ts.isClassLike(declaration)) return false;
    for (let around = declaration.parent; around; around = around.parent) {
      if (ts.isFunctionLike(around)) return !ts.isFunctionDeclaration(declaration) && !ts.isClassLike(declaration);
      if (ts.isCatchClause(around)) return true;
    }
    return false;
  });
}
flush(true);
console.error(`${count} occurrences`);
