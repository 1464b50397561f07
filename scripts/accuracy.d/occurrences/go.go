// Occurrences of a Go module, by go/types (Go 1.19 or newer): every name that is no definition, with the place of what it refers to.
//
//	go run go.go ROOT  > occurrences.jsonl
//
// Rows are those of typescript.js. Files of other systems are left out; an imported module that is not below ROOT is empty, and what it
// gives is not decided. Kinds: call, type, key (of a struct), inherit (embedded), write, read.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type row struct {
	Path    string  `json:"path"`
	Line    int     `json:"line"`
	Col     int     `json:"col"`
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Targets [][]any `json:"targets,omitempty"`
	Local   bool    `json:"local,omitempty"`
	Outside bool    `json:"outside,omitempty"`
}

var (
	root    string
	files   = token.NewFileSet()
	checked = map[string]*types.Package{}
	library = importer.ForCompiler(files, "source", nil)
	modules = map[string]string{} // module path to directory
	out     = bufio.NewWriter(os.Stdout)
	count   = 0
)

// own is the importer of the packages below ROOT; the standard library comes from its source.
type own struct{}

func (own) Import(path string) (*types.Package, error) {
	if found, ok := checked[path]; ok {
		return found, nil
	}
	for module, directory := range modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			folder := filepath.Join(directory, strings.TrimPrefix(path, module))
			if parsed := parse(folder, false); len(parsed) > 0 {
				checked[path] = types.NewPackage(path, parsed[0].Name.Name) // a circle ends here
				checked[path] = check(path, parsed, nil)
				return checked[path], nil
			}
		}
	}
	if first := strings.Split(path, "/")[0]; !strings.Contains(first, ".") {
		if found, err := library.Import(path); err == nil {
			return found, nil
		}
	}
	name := filepath.Base(path)
	if regexp.MustCompile(`^v\d+$`).MatchString(name) {
		name = filepath.Base(filepath.Dir(path))
	}
	empty := types.NewPackage(path, name)
	empty.MarkComplete()
	checked[path] = empty
	return empty, nil
}

// parse reads the files of a directory that are built on this system.
func parse(folder string, tests bool) (parsed []*ast.File) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		if fits, err := build.Default.MatchFile(folder, name); err != nil || !fits {
			continue
		}
		if file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, 0); err == nil {
			parsed = append(parsed, file)
		}
	}
	return parsed
}

func check(path string, parsed []*ast.File, info *types.Info) *types.Package {
	settings := types.Config{Importer: own{}, Error: func(error) {}, FakeImportC: true}
	made, _ := settings.Check(path, files, parsed, info)
	return made
}

// place is where an object is defined, relative to ROOT.
func place(object types.Object) []any {
	position := files.Position(object.Pos())
	below, err := filepath.Rel(root, position.Filename)
	if !object.Pos().IsValid() || err != nil || strings.HasPrefix(below, "..") {
		return nil
	}
	return []any{filepath.ToSlash(below), position.Line, object.Name()}
}

// isLocal is true for a parameter, a result, a local of a function and a type parameter.
func isLocal(object types.Object) bool {
	if variable, ok := object.(*types.Var); ok && variable.IsField() {
		return false
	}
	if name, ok := object.(*types.TypeName); ok {
		_, isParameter := name.Type().(*types.TypeParam)
		return isParameter
	}
	scope := object.Parent()
	return scope != nil && object.Pkg() != nil && scope != object.Pkg().Scope() && scope != types.Universe
}

// origin is the declared object of an instantiated one.
func origin(object types.Object) types.Object {
	switch object := object.(type) {
	case *types.Func:
		return object.Origin()
	case *types.Var:
		return object.Origin()
	}
	return object
}

// kinds says how each identifier of a file is used, where its object does not say it.
func kinds(file *ast.File) map[*ast.Ident]string {
	found := map[*ast.Ident]string{}
	mark := func(node ast.Expr, kind string) {
		for {
			switch inner := node.(type) {
			case *ast.ParenExpr:
				node = inner.X
				continue
			case *ast.IndexExpr:
				if kind != "call" && kind != "inherit" {
					return
				}
				node = inner.X
				continue
			case *ast.StarExpr:
				if kind != "inherit" {
					return
				}
				node = inner.X
				continue
			case *ast.SelectorExpr:
				found[inner.Sel] = kind
			case *ast.Ident:
				found[inner] = kind
			}
			return
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			mark(node.Fun, "call")
		case *ast.AssignStmt:
			for _, end := range node.Lhs {
				mark(end, "write")
			}
		case *ast.IncDecStmt:
			mark(node.X, "write")
		case *ast.CompositeLit:
			for _, element := range node.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					mark(pair.Key, "key")
				}
			}
		case *ast.StructType:
			embedded(node.Fields, mark)
		case *ast.InterfaceType:
			embedded(node.Methods, mark)
		}
		return true
	})
	return found
}

func embedded(fields *ast.FieldList, mark func(ast.Expr, string)) {
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			mark(field.Type, "inherit")
		}
	}
}

func write(made row) {
	text, _ := json.Marshal(made)
	out.Write(text)
	out.WriteByte('\n')
	count++
}

// occurrences writes those of the files of one package.
func occurrences(parsed []*ast.File, info *types.Info) {
	for _, file := range parsed {
		name := files.Position(file.Pos()).Filename
		below, _ := filepath.Rel(root, name)
		fmt.Fprintf(out, "{\"file\": %q}\n", filepath.ToSlash(below))
		used := kinds(file)
		ast.Inspect(file, func(node ast.Node) bool {
			identifier, ok := node.(*ast.Ident)
			if !ok || identifier.Name == "_" {
				return true
			}
			object := info.Uses[identifier]
			if object == nil {
				return true
			}
			position := files.Position(identifier.Pos())
			made := row{Path: filepath.ToSlash(below), Line: position.Line, Col: position.Column - 1, Name: identifier.Name, Kind: used[identifier]}
			object = origin(object)
			switch object.(type) {
			case *types.PkgName:
				return true // a name of the file, not of the program
			case *types.TypeName:
				if made.Kind != "inherit" {
					made.Kind = "type"
				}
			default:
				if made.Kind == "" || made.Kind == "inherit" {
					made.Kind = "read"
				}
			}
			if end := place(object); end != nil {
				made.Targets = [][]any{end}
				made.Local = isLocal(object)
			} else {
				made.Outside = true
			}
			write(made)
			return true
		})
	}
}

func main() {
	given, err := filepath.EvalSymlinks(os.Args[1])
	if err == nil {
		root, err = filepath.Abs(given)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var folders []string
	filepath.Walk(root, func(path string, entry os.FileInfo, err error) error {
		if err != nil {
			return nil
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "vendor" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			folders = append(folders, path)
		} else if name == "go.mod" {
			text, _ := os.ReadFile(path)
			if found := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(text); found != nil {
				modules[string(found[1])] = filepath.Dir(path)
			}
		}
		return nil
	})
	for _, folder := range folders {
		byPackage := map[string][]*ast.File{}
		for _, file := range parse(folder, true) {
			byPackage[file.Name.Name] = append(byPackage[file.Name.Name], file)
		}
		path := importPath(folder)
		for name, parsed := range byPackage {
			info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
			if strings.HasSuffix(name, "_test") {
				path += "_test"
			}
			check(path, parsed, info)
			occurrences(parsed, info)
		}
	}
	out.Flush()
	fmt.Fprintf(os.Stderr, "%d occurrences\n", count)
}

func importPath(folder string) string {
	best, found := "", folder
	for module, directory := range modules {
		if below, err := filepath.Rel(directory, folder); err == nil && !strings.HasPrefix(below, "..") && len(directory) >= len(best) {
			best, found = directory, filepath.ToSlash(filepath.Join(module, below))
		}
	}
	return found
}
