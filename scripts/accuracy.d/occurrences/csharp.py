#!/usr/bin/env python3
"""Occurrences of a C# project, by Roslyn, the compiler itself; csharp.cs says what it asks.

    csharp.py ROOT [-d SYMBOL ..]  > occurrences.jsonl

Needs `mcs` (Debian package mono-mcs) to compile csharp.cs, and packages that bring the rest: Roslyn 4.1 (npm package `@autorest/csharp`,
in NODE_PATH), and from PyPI a runtime of .NET (`dotnetcore2`) with the libraries of OpenSSL that it asks for (those of `psycopg2-binary`).
Rows are those of typescript.js. Names of namespaces have no row. Kinds: call, construct, decorator (an attribute), import, inherit, key (a named
argument, an initializer), type, write, read.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WHEELS = {"dotnetcore2": "3.1.23", "psycopg2-binary": "2.9.3"}
ROSLYN = ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp", "System.Collections.Immutable", "System.Reflection.Metadata",
          "System.Runtime.CompilerServices.Unsafe")
SYMBOLS = ["DEBUG", "TRACE", "NETCOREAPP", "NETCOREAPP3_1", "NETCOREAPP2_0_OR_GREATER", "NETCOREAPP2_1_OR_GREATER", "NETCOREAPP3_0_OR_GREATER",
           "NETCOREAPP3_1_OR_GREATER"]


def prepared(folder, modules):
    """The command that runs the compiled maker, with its environment; all of it is in a folder, made once."""
    roslyn = os.path.join(modules, "@autorest", "csharp")
    framework = os.path.join(folder, "dotnetcore2", "bin", "shared", "Microsoft.NETCore.App", WHEELS["dotnetcore2"])
    os.makedirs(folder, exist_ok=True)
    if not os.path.isdir(framework):
        for name, version in WHEELS.items():
            wanted = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.10", "-d", folder, f"{name}=={version}"]
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True)
        for wheel in glob.glob(os.path.join(folder, "*.whl")):
            zipfile.ZipFile(wheel).extractall(folder)
        for library in ("libssl", "libcrypto"):
            found = glob.glob(os.path.join(folder, "psycopg2_binary.libs", library + "-*"))[0]
            os.symlink(os.path.basename(found), os.path.join(os.path.dirname(found), library + ".so.1.1"))
        os.chmod(os.path.join(folder, "dotnetcore2", "bin", "dotnet"), 0o755)
    for name in ROSLYN:
        shutil.copy(os.path.join(roslyn, name + ".dll"), folder)
    program = os.path.join(folder, "csharp.dll")
    named = ("System.Private.CoreLib", "System.Runtime", "System.Runtime.Extensions", "System.Linq", "System.Console", "System.Collections", "netstandard",
             "System.Text.RegularExpressions", "System.Text.Encoding.Extensions", "System.IO.FileSystem", "System.Threading", "System.Threading.Tasks")
    references = [os.path.join(framework, name + ".dll") for name in named] + [os.path.join(folder, name + ".dll") for name in ROSLYN[:3]]
    subprocess.run(["mcs", "-nostdlib", "-noconfig", "-nowarn:1685,1701", f"-out:{program}", *(f"-r:{path}" for path in references),
                    os.path.join(HERE, "csharp.cs")], check=True, stdout=sys.stderr)
    # Two libraries of Roslyn are newer than those of the runtime: the host prefers the greater version that is stated.
    newer = {"assemblyVersion": "5.0.0.0", "fileVersion": "5.0.20.51904"}
    parts = {name + ".dll": {} if name.startswith("Microsoft") else newer for name in ROSLYN}
    target = {"csharp/1": {"dependencies": {"roslyn": "1"}, "runtime": {"csharp.dll": {}}}, "roslyn/1": {"runtime": parts}}
    libraries = {name: {"type": "project", "serviceable": False, "sha512": ""} for name in target}
    with open(os.path.join(folder, "csharp.deps.json"), "w") as file:
        json.dump({"runtimeTarget": {"name": ".NETCoreApp,Version=v3.1"}, "targets": {".NETCoreApp,Version=v3.1": target}, "libraries": libraries}, file)
    with open(os.path.join(folder, "csharp.runtimeconfig.json"), "w") as file:
        json.dump({"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": WHEELS["dotnetcore2"]},
                                      "configProperties": {"System.Globalization.Invariant": True}}}, file)
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(folder, "psycopg2_binary.libs"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}
    return [os.path.join(folder, "dotnetcore2", "bin", "dotnet"), program], environment


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("-d", action="append", default=[], dest="symbols")
    options = parser.parse_args()
    modules = os.environ.get("NODE_PATH", "node_modules")
    command, environment = prepared(os.path.join(os.path.dirname(os.path.abspath(modules)), "dotnet"), modules)
    subprocess.run([*command, options.root, *SYMBOLS, *options.symbols], env=environment, check=True)


if __name__ == "__main__":
    main()
