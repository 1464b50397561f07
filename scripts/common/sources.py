"""The pinned sources that the truth was made from: which they are, and how to get them with the ordinary package clients.

Every archive is checked against its sha256. Archives of the distribution's source packages come through apt-get on Debian 12
only; elsewhere put them by hand into DEST/.archives under the names below.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections import namedtuple

Source = namedtuple("Source", "name client package version archive sha256 keep")

# `keep`: the entries of the archive's top folder that are taken; none means all of them.
SOURCES = [Source(*row) for row in [
    ("click", "pip", "click", "8.1.7", "click-8.1.7.tar.gz",
     "ca9853ad459e787e2192211578cc907e7594e294c7ccc834310722b41b9ca6de", "src tests examples setup.py"),
    ("httpx", "pip", "httpx", "0.27.2", "httpx-0.27.2.tar.gz",
     "f7c2be1d2f3c3c3160d441802406b206c2b76f5947b11115e6df10c6c65e66c2", "httpx tests pyproject.toml"),
    ("rxjs", "npm", "rxjs", "7.8.1", "rxjs-7.8.1.tgz",
     "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149", "src package.json tsconfig.json"),
    ("query-core", "npm", "@tanstack/query-core", "5.59.20", "tanstack-query-core-5.59.20.tgz",
     "304776f3ab8abc83bbff8764206213f399c3b3cf82bfc1b8f387f7d3ae7a48bc", "src package.json"),
    ("zod", "npm", "zod", "4.0.17", "zod-4.0.17.tgz",
     "50be4cb515207f8b4d53c3d7eb0aac2c94bb040b0c87282b5dcfb89e9164a69b", "src package.json"),
    ("clap_builder", "cargo", "clap_builder", "4.5.20", "clap_builder-4.5.20.crate",
     "19bc80abd44e4bed93ca373a0704ccbd1b710dc5749406201bb018272808dc54", "src Cargo.toml"),
    ("h2", "cargo", "h2", "0.4.6", "h2-0.4.6.crate",
     "524e8ac6999421f49a846c2d4411f337e53497d8ec55d67753beffa43c5d9205", "src examples benches Cargo.toml"),
    ("cobra", "apt", "golang-github-spf13-cobra", "1.6.1", "golang-github-spf13-cobra_1.6.1.orig.tar.gz",
     "f38f8b26895903be06089ff20882fc771dbca12f41cf81d7bd823be65e6cec52", ""),
    ("afero", "apt", "golang-github-spf13-afero", "1.9.3", "golang-github-spf13-afero_1.9.3.orig.tar.gz",
     "3674636a77f5c7c50de561e2b0e9237b3c7fee902ee66cea4adfb5a83da44891", ""),
    ("jackson-core", "apt", "jackson-core", "2.14.1", "jackson-core_2.14.1.orig.tar.xz",
     "d9eb6aa1898c4d5a582c52e69da249efae25e4d2c809c57dc6b6ee01c4b0fb3b", "src pom.xml"),
    ("commons-lang3", "apt", "libcommons-lang3-java", "3.12.0", "libcommons-lang3-java_3.12.0.orig.tar.xz",
     "f7c22574707611b63bae19ff17f59e24cdd32e2b0e61a50ec9b1b525fbc909d1", "src pom.xml"),
    ("lua", "apt", "lua5.4", "5.4.4", "lua5.4_5.4.4.orig.tar.gz",
     "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61", "src"),
    ("zstd", "apt", "libzstd", "1.5.4+dfsg2", "libzstd_1.5.4+dfsg2.orig.tar.xz",
     "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953", "lib programs"),
    ("leveldb", "apt", "leveldb", "1.23", "leveldb_1.23.orig.tar.gz",
     "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76", ""),
    ("re2", "apt", "re2", "20220601+dfsg", "re2_20220601+dfsg.orig.tar.xz",
     "3bc61251da3b0b97be40a8a127818c517c62516e4eda11fc901d29496663df54", ""),
    ("monolog", "apt", "php-monolog", "2.9.1", "php-monolog_2.9.1.orig.tar.xz",
     "55d7d62eee001d4e68fe0d53841ede53bd583f4e0e3a172877d9a939f4b3c79e", "src composer.json"),
    ("commonmark", "apt", "php-league-commonmark", "2.3.9", "php-league-commonmark_2.3.9.orig.tar.xz",
     "c47403767a27c7d14f036a0a8e758eab213958d2489160412043174dc453f9d3", "src composer.json"),
    # The second set.
    ("traitlets", "pip", "traitlets", "5.14.3", "traitlets-5.14.3.tar.gz",
     "9ed0579d3502c94b4b3732ac120375cda96f923114522847de4b3bb98b96b6b7", "traitlets tests"),
    ("mocha", "npm", "mocha", "10.7.3", "mocha-10.7.3.tgz",
     "6ae75159720a11d18883f87f1400e7e3e923a6b5437f5c75131790378d3e9338", "lib bin index.js package.json"),
    ("fastify", "npm", "fastify", "4.28.1", "fastify-4.28.1.tgz",
     "df149dcab400c90ed4b703d77381d7c6a47dc394c76f2491ff3a8647d332854b", "lib test fastify.js package.json"),
    ("blueprint", "npm", "@blueprintjs/core", "5.13.1", "blueprintjs-core-5.13.1.tgz",
     "34f0fe2dce9e8803d1ab93ff920287563c49d41c09353d1d369b17e000852b51", "src package.json"),
    ("serde_json", "cargo", "serde_json", "1.0.128", "serde_json-1.0.128.crate",
     "6ff5456707a1de34e7e37f2a6fd3d3f808c318259cbd01ab6377795054b483d8", "src Cargo.toml"),
    ("xexp", "apt", "golang-golang-x-exp", "0.0~git20221028.83b7d23", "golang-golang-x-exp_0.0~git20221028.83b7d23.orig.tar.xz",
     "6ab71bd2bd7a12fd98498f4ae1039189bb360e32893415121b734ce2451047c6", "apidiff constraints ebnf event jsonrpc2 maps slices slog typeparams go.mod"),
    ("guava", "apt", "guava-libraries", "31.1", "guava-libraries_31.1.orig.tar.xz",
     "3dbb56b34e5ebd1b97184f72d31fbf9da24cc26c28f1ad3714aeeefdeedaed2a", "guava"),
    ("cli11", "apt", "cli11", "2.1.2+ds", "cli11_2.1.2+ds.orig.tar.xz",
     "8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d", "include examples tests"),
    ("linux", "apt", "linux", "6.1.176", "linux_6.1.176.orig.tar.xz",
     "9aad4025973feea3f0d978e82ab7db97d8d5ce3f59fcc6b1f316153d66e3a504", "arch include kernel mm ipc lib block fs init"),
    ("twig", "apt", "php-twig", "3.5.1", "php-twig_3.5.1.orig.tar.xz",
     "1c6b0b85a6076bc2a96e916121dbb473a650a521b4ff82036fb7806d78dfef03", "src composer.json"),
]]

# Libraries and projects that use them: the edges between the two are scored (scripts/accuracy pairs).
PAIRED = [source for source in SOURCES if source.name in ("cobra", "jackson-core")] + [Source(*row) for row in [
    ("werkzeug", "pip", "werkzeug", "3.0.4", "werkzeug-3.0.4.tar.gz",
     "34f2371506b250df4d4f84bfe7b0921e4762525762bbd936614909fe25cd7306", "src pyproject.toml"),
    ("flask", "pip", "flask", "3.0.3", "flask-3.0.3.tar.gz",
     "ceb27b0af3823ea2737928a4d99d125a06175b8512c445cbd9a9ce200ef76842", "src tests pyproject.toml"),
    ("prosemirror-model", "npm", "prosemirror-model", "1.22.3", "prosemirror-model-1.22.3.tgz",
     "98750f128b9e9e251df3346ff29698422dbb54d22fd105930b93f9108b6f0b49", "src package.json"),
    ("prosemirror-transform", "npm", "prosemirror-transform", "1.10.0", "prosemirror-transform-1.10.0.tgz",
     "35a0c7d062f697fe7ff9f95c940873b1c8e72a016e68c718a8b23bece072920b", "src package.json"),
    ("http", "cargo", "http", "1.1.0", "http-1.1.0.crate",
     "21b9ddb458710bc376481b842f5da65cdf31522de232c1ca8146abce2a358258", "src Cargo.toml"),
    ("hyper", "cargo", "hyper", "1.4.1", "hyper-1.4.1.crate",
     "50dfd22e0e76d0f662d429a5f80fcaf3855009297eab6a0a9f8543834744ba05", "src Cargo.toml"),
    ("pflag", "apt", "golang-github-spf13-pflag", "1.0.6~git20210604-d5e0c0615ace",
     "golang-github-spf13-pflag_1.0.6~git20210604-d5e0c0615ace.orig.tar.xz",
     "9b21056481ebf33e78a80ae999a714abb29392a5995a515bc8fefd6d88b6b204", ""),
    ("jackson-databind", "apt", "jackson-databind", "2.14.0", "jackson-databind_2.14.0.orig.tar.xz",
     "ec086218027c3ecf235fcda042bf04d87b4178ee225f0633f062cd20e64f74a9", "src pom.xml"),
    # The second pair of a language.
    ("chevrotain-gast", "npm", "@chevrotain/gast", "10.5.0", "chevrotain-gast-10.5.0.tgz",
     "569e57c2b348e99c741b06fc526754ad1305a0beca3aefa3a25affc47ff70506", "src package.json"),
    ("chevrotain", "npm", "chevrotain", "10.5.0", "chevrotain-10.5.0.tgz",
     "6e8206b3217da4c2526458615fbe8bf279712deb0557bf8233e145e9240fa803", "src package.json"),
    ("regex-syntax", "cargo", "regex-syntax", "0.8.5", "regex-syntax-0.8.5.crate",
     "2b15c43186be67a4fd63bee50d0303afffcef381492ebe2c5d87f324e1b8815c", "src Cargo.toml"),
    ("regex-automata", "cargo", "regex-automata", "0.4.9", "regex-automata-0.4.9.crate",
     "809e8dc61f6de73b46c85f4c96486310fe304c434cfa43669d7b40f711150908", "src Cargo.toml"),
    ("starlette", "pip", "starlette", "0.41.3", "starlette-0.41.3.tar.gz",
     "0e4ab3d16522a255be6b28260b938eae2482f98ce5cc934cb08dce8dc3ba5835", "starlette pyproject.toml"),
    ("fastapi", "pip", "fastapi", "0.115.6", "fastapi-0.115.6.tar.gz",
     "9ec46f7addc14ea472958a96aae5b5de65f39721a46aaf5705c480d9a8b76654", "fastapi pyproject.toml"),
    ("go-immutable-radix", "apt", "golang-github-hashicorp-go-immutable-radix", "1.3.1",
     "golang-github-hashicorp-go-immutable-radix_1.3.1.orig.tar.gz",
     "a230480398365aa51d06a3082f7038172b515394c6409e96a519b0d17154b5a1", ""),
    ("go-memdb", "apt", "golang-github-hashicorp-go-memdb", "1.2.1", "golang-github-hashicorp-go-memdb_1.2.1.orig.tar.xz",
     "c14c4aaba6710796a552f8092ddecfb1ab1135b32065a7a80a1c65001d54f7a8", ""),
    ("jackson-dataformat-xml", "apt", "jackson-dataformat-xml", "2.14.0", "jackson-dataformat-xml_2.14.0.orig.tar.xz",
     "1bd05002dde0fa97afb4713363d0c502d08d97a9a1b115742e4776414b082979", "src pom.xml"),
    # More pairs of Rust and Java.
    ("winnow", "cargo", "winnow", "0.7.15", "winnow-0.7.15.crate",
     "df79d97927682d2fd8adb29682d1140b343be4ac0f08fd68b7765d9c059d3945", "src Cargo.toml"),
    ("toml_edit", "cargo", "toml_edit", "0.22.27", "toml_edit-0.22.27.crate",
     "41fe8c660ae4257887cf66394862d21dbca4a6ddd26f04a3560410406a2f819a", "src Cargo.toml"),
    ("tracing-core", "cargo", "tracing-core", "0.1.36", "tracing-core-0.1.36.crate",
     "db97caf9d906fbde555dd62fa95ddba9eecfd14cb388e4f491a66d74cd5fb79a", "src Cargo.toml"),
    ("tracing-subscriber", "cargo", "tracing-subscriber", "0.3.23", "tracing-subscriber-0.3.23.crate",
     "cb7f578e5945fb242538965c2d0b04418d38ec25c79d160cd279bf0731c8d319", "src Cargo.toml"),
    ("httpcore", "apt", "httpcomponents-core", "4.4.16", "httpcomponents-core_4.4.16.orig.tar.xz",
     "218c3e55024c077910f93ae3e4f28b10f5cc8876100b23e32dd306be022cbf8e", "httpcore pom.xml"),
    ("httpclient", "apt", "httpcomponents-client", "4.5.14", "httpcomponents-client_4.5.14.orig.tar.xz",
     "659535b7ac7eb59e36435d1a24bc526b5f8d64d5c7d979165110ce2dfa54b1eb", "httpclient pom.xml"),
]]

# A project without truth: for queries and measurements.
DJANGO = Source("django", "pip", "Django", "5.1.4", "Django-5.1.4.tar.gz",
                "de450c09e91879fa5a307f696e57c851955c910a438a35e6b4c895e86bedc82a", "")


class FetchError(Exception):
    """A source that could not be had; the message says which and why."""


def fetch(source, dest):
    """Unpacks one project to DEST/<name>, unless a complete copy exists already."""
    target = os.path.join(dest, source.name)
    stamp = os.path.join(dest, ".archives", source.name + ".sha256")
    if os.path.isdir(target) and os.path.exists(stamp) and open(stamp).read() == source.sha256:
        return
    archive = os.path.join(dest, ".archives", source.archive)
    os.makedirs(os.path.dirname(archive), exist_ok=True)
    if not os.path.exists(archive):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(archive)) as scratch:
            shutil.move(_download(source, scratch), archive)
    with open(archive, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != source.sha256:
            raise FetchError(f"{source.name}: the sha256 of {archive} differs from the pinned one")
    shutil.rmtree(target, ignore_errors=True)
    _unpack(archive, target, source.keep.split())
    with open(stamp, "w") as file:
        file.write(source.sha256)


def _unpack(archive, target, keep):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(archive)) as scratch:
        with tarfile.open(archive) as tar:
            # The archives are pinned by hash; the filter is used where this Python has it.
            tar.extractall(scratch, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        found = os.listdir(scratch)
        # Some archives have no top folder; those need `keep`.
        top = os.path.join(scratch, found[0]) if len(found) == 1 else scratch
        if not keep:
            shutil.move(top, target)
            return
        os.mkdir(target)
        for entry in keep:
            shutil.move(os.path.join(top, entry), os.path.join(target, entry))


def _download(source, scratch):
    """Has the package client put the archive into the scratch folder; returns its path."""
    client = {"pip": _pip, "npm": _npm, "cargo": _cargo, "apt": _apt}[source.client]
    try:
        path = client(source, scratch)
    except FileNotFoundError as error:
        raise FetchError(f"{source.name}: {error.filename} is needed to download {source.package} {source.version}") from error
    except subprocess.CalledProcessError as error:
        raise FetchError(f"{source.name}: {' '.join(error.cmd[:3])} failed: {error.stderr.strip()[-600:]}") from error
    if not os.path.exists(path):
        raise FetchError(f"{source.name}: the download has no {source.archive}")
    return path


def _run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout


def _pip(source, scratch):
    _run("python3", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
         f"{source.package}=={source.version}", "-d", ".", cwd=scratch)
    return os.path.join(scratch, source.archive)


def _npm(source, scratch):
    _run("npm", "pack", f"{source.package}@{source.version}", "--silent", cwd=scratch)
    return os.path.join(scratch, source.archive)


def _cargo(source, scratch):
    """`cargo fetch` of a project that depends on the crate leaves the archive in cargo's cache."""
    os.mkdir(os.path.join(scratch, "src"))
    open(os.path.join(scratch, "src", "lib.rs"), "w").close()
    with open(os.path.join(scratch, "Cargo.toml"), "w") as manifest:
        manifest.write('[package]\nname = "scratch"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
                       f'{source.package} = {{ version = "={source.version}", default-features = false }}\n\n[workspace]\n')
    home = os.path.join(scratch, "home")
    _run("cargo", "fetch", "-q", cwd=scratch, CARGO_HOME=home)
    cache = os.path.join(home, "registry", "cache")
    return os.path.join(cache, os.listdir(cache)[0], source.archive)


def _apt(source, scratch):
    """A private package state with source lists, made from the configured binary lists: the system's own stays as it is."""
    parts = os.path.join(scratch, "parts")
    for folder in (parts, os.path.join(scratch, "lists", "partial"), os.path.join(scratch, "cache", "archives", "partial")):
        os.makedirs(folder)
    _source_lists("/etc/apt", parts)
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}",
               "-o", f"Dir::State::lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache",
               "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none"]
    _run("apt-get", *options, "-qq", "update", cwd=scratch)
    shown = _run("apt-cache", *options, "showsrc", source.package, cwd=scratch)
    # Any revision of the distribution does: only the upstream archive is taken.
    versions = [line[9:] for line in shown.splitlines() if line.startswith("Version: ") and f"{source.version}-" in line]
    if not versions:
        raise FetchError(f"{source.name}: {source.package} {source.version} is not in the configured archive (Debian 12 has it)")
    # A mirror can list a revision that it does not have any more.
    for older in reversed(versions):
        try:
            _run("apt-get", *options, "-qq", "source", "--download-only", f"{source.package}={older}", cwd=scratch)
            break
        except subprocess.CalledProcessError:
            if older == versions[0]:
                raise
    return os.path.join(scratch, source.archive)


def _source_lists(configured, parts):
    lists = [os.path.join(configured, "sources.list")]
    folder = os.path.join(configured, "sources.list.d")
    if os.path.isdir(folder):
        lists += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    for path in lists:
        if not os.path.exists(path):
            continue
        text = open(path).read()
        if path.endswith(".sources"):
            lines = ["Types: deb-src" if line.startswith("Types:") else line for line in text.splitlines()]
        else:
            lines = ["deb-src" + line[3:] for line in text.splitlines() if line.startswith("deb ")]
        with open(os.path.join(parts, os.path.basename(path)), "w") as file:
            file.write("\n".join(lines) + "\n")
