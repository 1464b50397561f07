#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed as an optional dependency. Standard input, output and error are
// the program's own; signals are passed to it, and its exit status is the one of this process.
"use strict";

const { spawn } = require("child_process");
const { existsSync } = require("fs");
const { constants } = require("os");
const path = require("path");
const { isatty } = require("tty");
const { name, version, optionalDependencies } = require("./package.json");

// Of the launcher itself, as a shell has it: the program was not found, or could not be started. The program uses 0 to 4.
const NOT_FOUND = 127;
const NOT_STARTED = 126;
// The loader that a program for glibc names. Without it (musl, NixOS) that program does not start; the one for musl is static and does.
const LOADERS = { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" };

function fail(message, status) {
  process.stderr.write(`${name}: ${message}\n`);
  process.exit(status);
}

/** Packages that fit this system, best first. */
function candidates() {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [`@cograph/${platform}`];
  // An Alpine system with a layer for glibc has the loader too; its Node.js reports no version of glibc.
  const isGlibc = existsSync(LOADERS[process.arch] || "") && Boolean(process.report.getReport().header.glibcVersionRuntime);
  return (isGlibc ? ["gnu", "musl"] : ["musl"]).map((library) => `@cograph/${platform}-${library}`);
}

/** The program of the first of these packages that is installed. */
function installed(packages) {
  for (const candidate of packages) {
    try {
      return path.join(path.dirname(require.resolve(`${candidate}/package.json`)), "bin", "cograph");
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return null;
}

// The report would otherwise look up the names of all open connections.
process.report.excludeNetwork = true;
const supported = candidates().filter((candidate) => candidate in optionalDependencies);
if (supported.length === 0) {
  const known = Object.keys(optionalDependencies).map((known) => known.replace("@cograph/", ""));
  fail(`there is no program for ${process.platform}-${process.arch}; there are programs for ${known.join(", ")}`, NOT_FOUND);
}
const program = installed(supported);
if (program === null) {
  fail(`the package ${supported.join(" or ")} is not installed: it is an optional dependency, which \`npm install --omit=optional\` and a ` +
    `node_modules of another platform leave out. Install again with: npm install --include=optional ${name}@${version}`, NOT_FOUND);
}

// Before the program starts, so that none ends this process alone. A terminal sends the interrupt to both; a second one would end the program at
// once.
const isTerminal = isatty(0);
const handled = ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGINT"];
for (const signal of handled) process.on(signal, () => (isTerminal && signal === "SIGINT" ? undefined : child.kill(signal)));
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`${program} does not start: ${error.message}`, NOT_STARTED));
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  // This process ends as the program did.
  for (const one of handled) process.removeAllListeners(one);
  process.kill(process.pid, signal);
  // The signal arrives in the next turn of the loop; where it does not end the process, the status of a shell does.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
